import type { Release } from '../../concurrency/semaphore.ts';
import { Turns } from '../../concurrency/turns.ts';

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
  /** How long a PUT waits for an earlier one of the same document, whose connection may just have broken. */
  turnMs: number;
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

const maxWaitingPerDocument = 100;

/** Decides which uploads may run at once. */
export class UploadAdmission {
  readonly #limits: UploadLimits;
  readonly #freeBytes: () => Promise<number>;
  readonly #documents = new Turns({ limit: 1, maxWaiting: maxWaitingPerDocument });
  readonly #reserved = new Map<string, number>();
  #reservedBytes = 0;

  /** `freeBytes` measures what this process may still write to the disk. */
  constructor(limits: UploadLimits, freeBytes: () => Promise<number>) {
    this.#limits = limits;
    this.#freeBytes = freeBytes;
  }

  /** Waits until no other PUT of the document runs. Throws UploadRefused, or the signal's reason. */
  async takeTurn(key: string, signal: AbortSignal): Promise<Release> {
    const release = await this.#documents.acquireWithin(key, this.#limits.turnMs, signal);
    if (!release) throw new UploadRefused(409, 'upload_in_progress', 1);
    return release;
  }

  /** Sets bytes aside for an upload until it ends. Throws UploadRefused if there is no room for them. */
  async reserve(organizationId: string, bytes: number): Promise<Release> {
    const ofOrganization = this.#reserved.get(organizationId) ?? 0;
    if (ofOrganization + bytes > this.#limits.incomingBytesPerOrganization) throw new UploadRefused(429, 'too_many_uploads');
    if (this.#reservedBytes + bytes > this.#limits.incomingBytes) throw new UploadRefused(503, 'uploads_busy');
    this.#change(organizationId, bytes);
    try {
      // What others have reserved may be on the disk in part already; counting all of it keeps the reserve whole.
      if ((await this.#freeBytes()) - this.#reservedBytes < this.#limits.reserveBytes) throw new UploadRefused(507, 'storage_full', 60);
    } catch (error) {
      this.#change(organizationId, -bytes);
      throw error;
    }
    let released = false;
    return () => {
      if (!released) this.#change(organizationId, -bytes);
      released = true;
    };
  }

  #change(organizationId: string, bytes: number): void {
    const left = (this.#reserved.get(organizationId) ?? 0) + bytes;
    if (left === 0) this.#reserved.delete(organizationId);
    else this.#reserved.set(organizationId, left);
    this.#reservedBytes += bytes;
  }
}
