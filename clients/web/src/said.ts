/** What the service has said: with an error, a job that failed, or a notice. */
export interface Said {
  /** Absent from what the console says itself. */
  code?: string | undefined;
  /** In the service's own words. */
  message: string;
  data?: unknown;
  retryAfterMs?: number | undefined;
}
