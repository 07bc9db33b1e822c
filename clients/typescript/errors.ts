import type { ErrorCode, ErrorData } from '../../contract/errors.ts';

/**
 * Codes of failures that the client finds itself: the service was not reached or its response was lost, it took too long, it is
 * another service, or a file has another size than declared.
 */
export type LocalErrorCode = 'NETWORK' | 'TIMEOUT' | 'UNEXPECTED_ANSWER' | 'WRONG_SIZE';

type DataOf<C> = C extends keyof ErrorData ? ErrorData[C] : undefined;

interface SheafErrorDetails {
  status?: number | undefined;
  data?: unknown;
  defined?: boolean | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** The service refused a call, did not respond, or a job that was waited for has failed. */
export class SheafError extends Error {
  /**
   * A code of the contract (`NOT_FOUND`, …), of sign-in (`INVALID_EMAIL_OR_PASSWORD`, …), of storage, of a failed job
   * (`unsupported_file`, …), or a {@link LocalErrorCode}.
   */
  readonly code: string;
  /** The HTTP status; 0 if there was no response, or a job has failed. */
  readonly status: number;
  /** The data of the code: see {@link SheafError.is}. */
  readonly data: unknown;
  /** Whether the operation declares the code. */
  readonly defined: boolean;
  /** The `X-Request-Id` of the response, which is in the service's log. */
  readonly requestId: string | undefined;
  /** The wait that the service asks for, in milliseconds. */
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

  /** Whether this is an error with this code; narrows the type of `data`. */
  is<C extends ErrorCode | LocalErrorCode>(code: C): this is SheafError & { readonly code: C; readonly data: DataOf<C> } {
    return this.code === code;
  }
}

/** The error of a response that no service of this kind gives. */
export function unexpectedResponse(url: string): SheafError {
  return new SheafError('UNEXPECTED_ANSWER', `What responds is not this service: ${rootHint(url)}`);
}

/** The error, with a hint if nothing is served at the path that was asked: then `url` may not be the root of the service. */
export function withRootHint(error: SheafError, url: string): SheafError {
  const isStray = (error.status === 404 || error.status === 405) && !error.defined;
  return isStray ? new SheafError(error.code, `${error.message} Note that ${rootHint(url)}`, { ...error, cause: error.cause }) : error;
}

function rootHint(url: string): string {
  return `url (${url}) must be the root of the service, without /api/v1.`;
}

/** The error of a request without a complete response. */
export function lostResponse(cause: unknown): SheafError {
  if (isTimeout(cause)) {
    return new SheafError('TIMEOUT', 'The service did not respond in time.', { cause });
  }
  const reason = reasonOf(cause);
  return new SheafError('NETWORK', `The service could not be reached, or its response was lost${reason ? ` (${reason})` : ''}.`, { cause });
}

/** Also behind the error of oRPC, which names one of its own if the time ends while a body is read. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || isTimeout(error.cause));
}

/** The cause behind the `fetch failed` of Node's fetch, such as `connect ECONNREFUSED 127.0.0.1:3000`. Browsers give none. */
function reasonOf(error: unknown): string | undefined {
  const { cause } = error instanceof Error ? error : {};
  if (!(cause instanceof Error)) return undefined;
  const { code } = cause as { code?: unknown };
  return cause.message.trim().split('\n', 1)[0] || (typeof code === 'string' ? code : undefined);
}
