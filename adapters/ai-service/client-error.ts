import { readRetryAfterMs } from '../../base/retry-after.ts';

/**
 * The kind of failure of a call to the AI service. - `unreachable`: no response (not running, network, timeout). - `unusable_answer`: a
 * response in another form than the service promises. - `rejected`: 4xx. Final, except for those about the deployment (401, 403) or the
 * rate (429). - `failed`: 5xx.
 */
type AiServiceErrorKind = 'unreachable' | 'unusable_answer' | 'rejected' | 'failed';

interface AiServiceErrorFields {
  kind: AiServiceErrorKind;
  status?: number | undefined;
  code: string;
  message: string;
  retryable: boolean;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** The error of every method of the AI client. For `rejected` and `failed`, `code` and `message` are the service's own, safe to show to a tenant. */
export class AiServiceError extends Error {
  readonly kind: AiServiceErrorKind;
  readonly status: number | undefined;
  readonly code: string;
  /** The same call may succeed later. */
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

/** The service did not respond. The message has no address, because a tenant may see it. */
export function unreachable(code: 'unreachable' | 'timeout', cause: unknown): AiServiceError {
  const message = code === 'timeout' ? 'The AI service did not respond in time.' : 'The AI service cannot be reached.';
  return new AiServiceError({ kind: 'unreachable', code, message, retryable: true, cause });
}

/** The service responded, but not in the promised form. */
export function unusableResponse(status: number, cause: unknown): AiServiceError {
  const message = 'The AI service returned something unusable.';
  return new AiServiceError({ kind: 'unusable_answer', status, code: 'unusable_answer', message, retryable: true, cause });
}

/** A response of the service; `retryAfter` is the header: seconds or a date. */
export interface ReceivedResponse {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

/** The error of a response with a status of 400 or more. */
export function errorOfResponse(
  { status, retryAfter }: ReceivedResponse,
  error: { code: string; message: string } | undefined,
): AiServiceError {
  const failed = status >= 500;
  return new AiServiceError({
    kind: failed ? 'failed' : 'rejected',
    status,
    code: error?.code ?? `http_${status}`,
    message: error?.message ?? (failed ? 'The AI service failed.' : 'The AI service refused the request.'),
    // A wrong token and a full queue say nothing about the document.
    retryable: failed || status === 401 || status === 403 || status === 429,
    retryAfterMs: readRetryAfterMs(retryAfter),
  });
}
