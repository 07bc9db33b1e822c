import type { Release } from '../../concurrency/fair-semaphore.ts';
import { Turns } from '../../concurrency/turns.ts';
import { IncomingUpload } from './incoming-upload.ts';

/** What uploads may take of this process and its disk. Each process counts its own. */
export interface UploadLimits {
  /** The least that a client must send, counted over {@link rateWindowMs} in which the service waited for it. */
  minBytesPerSecond: number;
  rateWindowMs: number;
  /** Bytes of unfinished uploads, of all organizations and of each. */
  incomingBytes: number;
  incomingBytesPerOrganization: number;
  /** Which uploads are ended if there is no room for a new one: those that come slower than this since they began, and began so long ago. */
  slowBytesPerSecond: number;
  slowAfterMs: number;
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
  readonly #uploads = new Set<IncomingUpload>();

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

  /**
   * Sets bytes aside for an upload until it is released. If those of all organizations leave no room for them, slow ones of the organization
   * that holds most are ended. Throws UploadRefused if there is no room all the same.
   */
  async reserve(organizationId: string, bytes: number): Promise<{ upload: IncomingUpload; release: Release }> {
    const upload = new IncomingUpload(organizationId, bytes);
    const { incomingBytes, incomingBytesPerOrganization, reserveBytes } = this.#limits;
    if (this.#bytesOf(organizationId) + bytes > incomingBytesPerOrganization) throw new UploadRefused(429, 'too_many_uploads');
    const inTheWay = this.#findInTheWay(this.#reservedBytes + bytes - incomingBytes);
    if (!inTheWay) throw new UploadRefused(503, 'uploads_busy');
    for (const slow of inTheWay) {
      this.#uploads.delete(slow);
      slow.end();
    }
    this.#uploads.add(upload);
    const release = () => void this.#uploads.delete(upload);
    try {
      // What others have reserved may be on the disk in part already; counting all of it keeps the reserve whole.
      if ((await this.#freeBytes()) - this.#reservedBytes < reserveBytes) throw new UploadRefused(507, 'storage_full', 60);
    } catch (error) {
      release();
      throw error;
    }
    return { upload, release };
  }

  /**
   * The slow uploads that hold so many bytes together, each the slowest of the organization that holds most without those before it.
   * Undefined if they hold less.
   */
  #findInTheWay(bytes: number): IncomingUpload[] | undefined {
    const { slowBytesPerSecond, slowAfterMs } = this.#limits;
    const isSlow = (upload: IncomingUpload) => upload.ageMs >= slowAfterMs && upload.bytesPerSecond < slowBytesPerSecond;
    const left = new Set(this.#uploads);
    const found: IncomingUpload[] = [];
    for (let missing = bytes; missing > 0; ) {
      const holdings = holdingsOf(left).sort((one, other) => other.bytes - one.bytes);
      const slow = holdings.map(({ uploads }) => uploads.filter(isSlow)).find(({ length }) => length > 0);
      const slowest = slow?.sort((one, other) => one.bytesPerSecond - other.bytesPerSecond)[0];
      if (!slowest) return undefined;
      left.delete(slowest);
      found.push(slowest);
      missing -= slowest.bytes;
    }
    return found;
  }

  get #reservedBytes(): number {
    return sumOf(this.#uploads);
  }

  #bytesOf(organizationId: string): number {
    return sumOf([...this.#uploads].filter((upload) => upload.organizationId === organizationId));
  }
}

function holdingsOf(uploads: Iterable<IncomingUpload>): { uploads: IncomingUpload[]; bytes: number }[] {
  const byOrganization = Map.groupBy(uploads, ({ organizationId }) => organizationId);
  return [...byOrganization.values()].map((ofOne) => ({ uploads: ofOne, bytes: sumOf(ofOne) }));
}

function sumOf(uploads: Iterable<IncomingUpload>): number {
  let sum = 0;
  for (const { bytes } of uploads) sum += bytes;
  return sum;
}
