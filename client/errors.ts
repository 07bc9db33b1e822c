import type { ErrorCode, ErrorData } from '../contract/errors.ts';

/**
 * Codes of failures that no answer of the service tells of: it was not reached or its answer was lost, it took too long, it is
 * another service, or a file had more or fewer bytes than was said.
 */
export type LocalErrorCode = 'NETWORK' | 'TIMEOUT' | 'UNEXPECTED_ANSWER' | 'WRONG_SIZE';

type DataOf<C> = C extends keyof ErrorData ? ErrorData[C] : undefined;

export interface SheafErrorDetails {
  status?: number | undefined;
  data?: unknown;
  defined?: boolean | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** The service refused a call, or did not answer it. */
export class SheafError extends Error {
  /** A code of the contract (`NOT_FOUND`, …), of sign-in (`INVALID_EMAIL_OR_PASSWORD`, …), of storage, or a {@link LocalErrorCode}. */
  readonly code: string;
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** What the code tells beside its message: see {@link SheafError.is}. */
  readonly data: unknown;
  /** Whether the operation declares the code. */
  readonly defined: boolean;
  /** The `X-Request-Id` of the answer, by which the service's log knows it. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, details: SheafErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'SheafError';
    this.code = code;
    this.status = details.status ?? 0;
    this.data = details.data;
    this.defined = details.defined ?? false;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** Whether this is the error of a code, with the `data` that goes with it. */
  is<C extends ErrorCode | LocalErrorCode>(code: C): this is SheafError & { readonly code: C; readonly data: DataOf<C> } {
    return this.code === code;
  }
}

/** The error of a request that got no whole answer. */
export function lostAnswer(cause: unknown): SheafError {
  if (cause instanceof Error && cause.name === 'TimeoutError') {
    return new SheafError('TIMEOUT', 'The service did not answer in time.', { cause });
  }
  return new SheafError('NETWORK', 'The service could not be reached, or its answer was lost.', { cause });
}
