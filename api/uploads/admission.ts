import { isCode } from '../../adapters/storage/write-once.ts';

/** The limits of uploads in this process and on its disk. Each process counts by itself. */
export interface UploadLimits {
  /** The rate at which a client must send at least, over each {@link rateWindowMs}. */
  minBytesPerSecond: number;
  rateWindowMs: number;
  /** The maximum bytes of unfinished uploads, for all organizations together and for each. */
  incomingBytes: number;
  incomingBytesPerOrganization: number;
  /** The bytes that stay free on the disk. */
  reserveBytes: number;
}

/** Thrown if an upload is refused for now; the same request may succeed later. */
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

/** The refusal of an upload for which the disk has no room. */
export const storageFull = () => new UploadRefused(507, 'storage_full', 60);

/** What the log says of it: the operator must act. */
export const storageFullLine = 'the disk of the stored documents is full: uploads are refused';

/** Whether storing an upload failed because the disk is full. */
export function isDiskFull(error: unknown): boolean {
  return isCode(error, 'ENOSPC') || isCode(error, 'EDQUOT');
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

  /** Reserves bytes for an upload until the returned function is called. Throws UploadRefused if too few are left. */
  async reserve(organizationId: string, bytes: number): Promise<() => void> {
    const { incomingBytes, incomingBytesPerOrganization, reserveBytes } = this.#limits;
    if ((this.#byOrganization.get(organizationId) ?? 0) + bytes > incomingBytesPerOrganization)
      throw new UploadRefused(429, 'too_many_uploads');
    if (this.#total + bytes > incomingBytes) throw new UploadRefused(503, 'uploads_busy');
    this.#add(organizationId, bytes);
    const release = () => this.#add(organizationId, -bytes);
    try {
      // Some of the reserved bytes may already be on the disk; counting all of them keeps the reserve whole.
      if ((await this.#freeBytes()) - this.#total < reserveBytes) throw storageFull();
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
