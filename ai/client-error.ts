/**
 * What went wrong with a call to the AI service.
 * - `unreachable`: no answer (not running, network, timeout).
 * - `unusable_answer`: an answer that is not what the service promises.
 * - `rejected`: 4xx. Final, unless it is about the deployment (401, 403) or the rate (429) and not about the document.
 * - `failed`: 5xx.
 */
export type AiServiceErrorKind = 'unreachable' | 'unusable_answer' | 'rejected' | 'failed';

interface AiServiceErrorFields {
  kind: AiServiceErrorKind;
  status?: number | undefined;
  code: string;
  message: string;
  retryable: boolean;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** The one error of the AI client. For `rejected` and `failed`, `code` and `message` are the service's own, safe to show to a tenant. */
export class AiServiceError extends Error {
  readonly kind: AiServiceErrorKind;
  readonly status: number | undefined;
  readonly code: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor({ kind, status, code, message, retryable, retryAfterMs, cause }: AiServiceErrorFields) {
    super(message, { cause });
    this.name = 'AiServiceError';
    this.kind = kind;
    this.status = status;
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The service did not answer. The address stays out of the message, which a tenant may see. */
export function unreachable(code: 'unreachable' | 'timeout', cause: unknown): AiServiceError {
  const message = code === 'timeout' ? 'The AI service did not answer in time.' : 'The AI service cannot be reached.';
  return new AiServiceError({ kind: 'unreachable', code, message, retryable: true, cause });
}

/** The service answered, but not in the promised form. */
export function unusableAnswer(status: number, cause: unknown): AiServiceError {
  const message = 'The AI service answered something unusable.';
  return new AiServiceError({ kind: 'unusable_answer', status, code: 'unusable_answer', message, retryable: true, cause });
}

/** What the service answered; `retryAfter` is the header, seconds or a date. */
export interface Answer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

/** The error that a refusing or failing answer stands for. */
export function errorOfAnswer({ status, retryAfter }: Answer, error: { code: string; message: string } | undefined): AiServiceError {
  const failed = status >= 500;
  return new AiServiceError({
    kind: failed ? 'failed' : 'rejected',
    status,
    code: error?.code ?? `http_${status}`,
    message: error?.message ?? (failed ? 'The AI service failed.' : 'The AI service refused the request.'),
    // A wrong token and a full queue say nothing about the document.
    retryable: failed || status === 401 || status === 403 || status === 429,
    retryAfterMs: retryAfterMs(retryAfter),
  });
}

/** A `Retry-After` header in milliseconds: it holds seconds or a date. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
