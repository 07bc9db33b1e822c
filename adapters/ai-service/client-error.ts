import { cannotConnect } from '../../base/cannot-connect.ts';
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
  down?: Down | undefined;
  cause?: unknown;
}

/**
 * What is down, as the failure of a call shows: the service itself, or behind it the provider of a role. `cause`: `unreachable`; `failing`:
 * 502, 503 or 529; `limited`: too many calls; `quota`: its credit is used up; `refused`: its key or token is wrong.
 */
interface Down {
  part: 'ai-service' | 'chat' | 'embed' | 'vision';
  cause: string;
}

/** The error of every method of the AI client. For `rejected` and `failed`, `code` and `message` are the service's own, safe to show to a tenant. */
export class AiServiceError extends Error {
  readonly kind: AiServiceErrorKind;
  readonly status: number | undefined;
  readonly code: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** Undefined if the failure may be that of this call alone. */
  readonly down: Down | undefined;

  constructor({ kind, status, code, message, retryable, retryAfterMs, down, cause }: AiServiceErrorFields) {
    super(message, { cause });
    this.name = 'AiServiceError';
    this.kind = kind;
    this.status = status;
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.down = down;
  }

  /** Whether the service gave it as its answer. */
  get isAnswer(): boolean {
    return this.kind !== 'unreachable' && this.down?.part !== 'ai-service';
  }
}

/** The service did not respond. `isSilent`: not even to a ping. The message has no address, because a tenant may see it. */
export function unreachable(code: 'unreachable' | 'timeout', cause: unknown, { isSilent = false } = {}): AiServiceError {
  const message = code === 'timeout' ? 'The AI service did not respond in time.' : 'The AI service cannot be reached.';
  // A call that takes too long, or whose connection breaks, may have a document that is the reason.
  const down = isSilent || cannotConnect(cause) ? ({ part: 'ai-service', cause: 'unreachable' } as const) : undefined;
  return new AiServiceError({ kind: 'unreachable', code, message, retryable: true, down, cause });
}

/** The service responded, but not in the promised form. */
export function unusableResponse(status: number, cause: unknown): AiServiceError {
  const message = 'The AI service returned something unusable.';
  return new AiServiceError({ kind: 'unusable_answer', status, code: 'unusable_answer', message, retryable: true, cause });
}

/** A response of the service; `retryAfter` is the header: seconds or a date. `usage` is that of its use of a provider. */
export interface ReceivedResponse {
  status: number;
  retryAfter: string | undefined;
  usage?: string | undefined;
  text: string;
}

/** The service's own words. `provider`: whose call failed, and why, if that provider is down. */
interface Refusal {
  code: string;
  message: string;
  provider?: { role: 'chat' | 'embed' | 'vision' | 'rerank'; state: string } | undefined;
}

/** The error of a response with a status of 400 or more. */
export function errorOfResponse({ status, retryAfter }: ReceivedResponse, error: Refusal | undefined): AiServiceError {
  const failed = status >= 500;
  return new AiServiceError({
    kind: failed ? 'failed' : 'rejected',
    status,
    code: error?.code ?? `http_${status}`,
    message: error?.message ?? (failed ? 'The AI service failed.' : 'The AI service refused the request.'),
    // A wrong token and a full queue say nothing about the document.
    retryable: failed || status === 401 || status === 403 || status === 429,
    retryAfterMs: readRetryAfterMs(retryAfter),
    down: downOf(status, error),
  });
}

function downOf(status: number, error: Refusal | undefined): Down | undefined {
  const { role, state = '' } = error?.provider ?? {};
  // No job ranks.
  if (role !== undefined) return role === 'rerank' ? undefined : { part: role, cause: state };
  if (status === 401 || status === 403) return { part: 'ai-service', cause: 'refused' };
  // Something before the service answered in its place.
  return !error && (status === 502 || status === 503 || status === 504) ? { part: 'ai-service', cause: 'failing' } : undefined;
}
