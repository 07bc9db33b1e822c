/** A request to a receiver. */
export interface WebhookRequest {
  url: string;
  /** The id of the event, the same for every attempt. */
  id: string;
  /** JSON. */
  body: string;
  /** `whsec_…` or `whsk_…`: each signs. */
  secrets: string[];
}

/** What came of a request. `error` is a sentence that the tenant may read; null if the receiver has accepted it. */
export interface WebhookResult {
  /** When it began, ISO 8601. */
  at: string;
  durationMs: number;
  /** Null if there was no response. */
  status: number | null;
  /** The beginning of the response. */
  body: string | null;
  error: string | null;
  /** Another attempt would be refused too. */
  final: boolean;
  /** The receiver wants nothing more. */
  gone: boolean;
  retryAfterMs?: number | undefined;
}

/** Sends requests to receivers. Never rejects. */
export interface WebhookSender {
  send(request: WebhookRequest, signal: AbortSignal): Promise<WebhookResult>;
  close(): Promise<void>;
}
