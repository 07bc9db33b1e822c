/** What uploads may take of this process and its disk. Each process counts its own. */
export interface UploadLimits {
  /** The least that a client must send, counted over {@link rateWindowMs} in which the service waited for it. */
  minBytesPerSecond: number;
  rateWindowMs: number;
  /** Bytes of unfinished uploads, of all organizations and of each. */
  incomingBytes: number;
  incomingBytesPerOrganization: number;
  /** What stays free on the disk. */
  reserveBytes: number;
}

/** An upload is refused for now; the same request may succeed later. */
export class UploadRefused extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number;
  constructor(status: number, code: string, retryAfterSeconds = 5) {
    super(code);
    this.name = 'UploadRefused';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Bounds the bytes of unfinished uploads. */
export class UploadAdmission {
  readonly #limits: UploadLimits;
  readonly #freeBytes: () => Promise<number>;
  readonly #byOrganization = new Map<string, number>();
  #total = 0;

  /** `freeBytes` measures what this process may still write to the disk. */
  constructor(limits: UploadLimits, freeBytes: () => Promise<number>) {
    this.#limits = limits;
    this.#freeBytes = freeBytes;
  }

  /** Sets bytes aside for an upload until the function that is returned is called. Throws UploadRefused if there is no room. */
  async reserve(organizationId: string, bytes: number): Promise<() => void> {
    const { incomingBytes, incomingBytesPerOrganization, reserveBytes } = this.#limits;
    if ((this.#byOrganization.get(organizationId) ?? 0) + bytes > incomingBytesPerOrganization)
      throw new UploadRefused(429, 'too_many_uploads');
    if (this.#total + bytes > incomingBytes) throw new UploadRefused(503, 'uploads_busy');
    this.#add(organizationId, bytes);
    const release = () => this.#add(organizationId, -bytes);
    try {
      // What others have reserved may be on the disk in part already; counting all of it keeps the reserve whole.
      if ((await this.#freeBytes()) - this.#total < reserveBytes) throw new UploadRefused(507, 'storage_full', 60);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  #add(organizationId: string, bytes: number): void {
    this.#total += bytes;
    const left = (this.#byOrganization.get(organizationId) ?? 0) + bytes;
    if (left > 0) this.#byOrganization.set(organizationId, left);
    else this.#byOrganization.delete(organizationId);
  }
}
