import type { RemoteRole } from '../base/config/remote-models.ts';

/** Additional fields of a refusal or failure. */
export interface ServiceErrorOptions {
  retryAfterSeconds?: number | undefined;
  /** If absent, that of a 4xx. */
  ofDocument?: boolean;
  /** The provider that is down. */
  provider?: ProviderState | undefined;
  cause?: unknown;
}

/**
 * A provider that cannot serve anybody just now. `unreachable`: it does not answer; `failing`: 502, 503 or 529; `limited`: too many calls;
 * `quota`: what was paid for is used up; `refused`: the key is wrong.
 */
export interface ProviderState {
  role: RemoteRole;
  state: 'unreachable' | 'failing' | 'limited' | 'quota' | 'refused';
}

/**
 * A refusal or failure of the AI service, sent as `{ error: { code, message, provider? } }`. The message may be shown to a tenant: it never
 * contains a part of the document, a secret or an address. 4xx means that a retry with the same document fails again.
 */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  /** How long the caller should wait before a retry, in seconds; sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** The document is the likely reason, also of a failure that may pass: the service did its part. */
  readonly ofDocument: boolean;
  readonly provider: ProviderState | undefined;

  constructor(status: number, code: string, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'ServiceError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.ofDocument = options.ofDocument ?? status < 500;
    this.provider = options.provider;
  }

  /** The body of the response. */
  toBody(): { error: { code: string; message: string; provider?: ProviderState | undefined } } {
    const { code, message, provider } = this;
    return { error: { code, message, provider } };
  }
}
