/**
 * A refusal or failure of the AI service, answered as `{ error: { code, message } }`. The message may be shown to a tenant:
 * it never holds a part of the document, a secret or an address. 4xx means that asking again with the same document is useless.
 */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  /** What the caller should wait before it asks again, in seconds; sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, message: string, options: { retryAfterSeconds?: number | undefined; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'ServiceError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
