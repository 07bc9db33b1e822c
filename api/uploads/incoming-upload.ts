/** An upload that is received, as admission weighs it against others. */
export class IncomingUpload {
  readonly organizationId: string;
  /** What is set aside for it. */
  readonly bytes: number;
  readonly #beganAt = performance.now();
  readonly #ended = new AbortController();
  #receivedBytes = 0;
  #waitedMs = 0;
  #waitsSince: number | undefined;

  constructor(organizationId: string, bytes: number) {
    this.organizationId = organizationId;
    this.bytes = bytes;
  }

  /** Aborts if it is ended, with {@link UploadEnded}. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  get ageMs(): number {
    return performance.now() - this.#beganAt;
  }

  /** How fast it comes. Only the time counts in which its sender is waited for, so that a slow disk is not the sender's fault. */
  get bytesPerSecond(): number {
    const waitsMs = this.#waitsSince === undefined ? 0 : performance.now() - this.#waitsSince;
    return (1_000 * this.#receivedBytes) / (this.#waitedMs + waitsMs);
  }

  /** Waits for the next chunk from the sender. */
  async whileWaiting<T>(next: Promise<T>): Promise<T> {
    const since = performance.now();
    this.#waitsSince = since;
    try {
      return await next;
    } finally {
      this.#waitedMs += performance.now() - since;
      this.#waitsSince = undefined;
    }
  }

  received(bytes: number): void {
    this.#receivedBytes += bytes;
  }

  /** Ends it, so that another one gets its room. */
  end(): void {
    this.#ended.abort(new UploadEnded());
  }
}

/** An upload was ended because it is slow and others wait for its room. Its client may begin again. */
export class UploadEnded extends Error {}
