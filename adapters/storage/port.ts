import type { Readable } from 'node:stream';

/** The target of an upload: the client sends a PUT to `url` with exactly these `headers`, started before `expiresAt`. */
export interface UploadTarget {
  url: string;
  headers: Record<string, string>;
  expiresAt: Date;
}

/** The source of a download: a GET of `url`, started before `expiresAt`. */
export interface DownloadTarget {
  url: string;
  expiresAt: Date;
}

/** Thrown if the store is unreachable or did not respond in time. A later attempt may succeed. */
export class StorageUnavailable extends Error {
  constructor(cause: unknown) {
    // The log writes the message of a cause that is an error.
    super('the store of documents is not available', { cause: typeof cause === 'string' ? new Error(cause) : cause });
    this.name = 'StorageUnavailable';
  }
}

/** The outcome for some of the keys to delete. */
export interface Deletion {
  /** The keys that no longer have an object. */
  deleted: string[];
  /** Why the store did not delete the others. */
  refused: Map<string, unknown>;
}

/** The store's data about an object. */
export interface StoredObject {
  sizeBytes: number;
}

/**
 * The store of document bytes. Keys are made by `objectKey`: `<organizationId>/<documentId>`; any other key throws. Failures of the
 * store itself throw, StorageUnavailable if it is away; an absent object is never an error. An object that exists is never overwritten.
 */
export interface Storage {
  readonly driver: 'local' | 'bucket';
  /** The directory or the name of the bucket, for the operator. */
  readonly location: string;
  /** Signs a target that accepts one object of at most MAX_UPLOAD_BYTES, once, for an hour. A store of S3 accepts exactly `sizeBytes`. */
  signUpload(input: { key: string; contentType: string; sizeBytes?: number }): Promise<UploadTarget>;
  /** Signs a GET that downloads the object under `fileName` for five minutes. */
  signDownload(input: { key: string; contentType: string; fileName: string }): Promise<DownloadTarget>;
  /** Measures an object; undefined if there is none. */
  stat(key: string): Promise<StoredObject | undefined>;
  /** Streams an object's bytes; undefined if there is none. */
  read(key: string): Promise<Readable | undefined>;
  /** Stores bytes under a key that has none yet. Throws `ObjectExistsError` or the source's error; then nothing is stored. */
  write(key: string, source: AsyncIterable<Buffer>): Promise<void>;
  /** Deletes an object; deleting an absent one succeeds. */
  delete(key: string): Promise<void>;
  /**
   * Deletes objects in the largest batches that the store accepts, and yields the outcome of each batch. Deleting an absent one succeeds.
   */
  deleteMany(keys: readonly string[]): AsyncIterable<Deletion>;
  /** Deletes an object that is larger than `maxBytes`. A smaller one that has replaced it meanwhile stays. */
  deleteIfLarger(key: string, maxBytes: number): Promise<void>;
  /**
   * Lists keys that begin with `prefix` (`<organizationId>/` or empty), a page at a time, in bounded memory. `from`: a key of an earlier
   * list, at which or a little before which to begin.
   */
  list(prefix: string, from?: string): AsyncIterable<{ key: string; createdAt: Date }>;
  /** The deployment that the store's marker names as its owner; undefined if it has no marker. Changes nothing. */
  owner(): Promise<string | undefined>;
  /** As {@link owner}. A store without a marker gets one that names `deployment`. */
  claim(deployment: string): Promise<string>;
}

/** How long an upload can be started with its target (milliseconds). */
export const uploadLifetimeMs = 60 * 60 * 1000;

/** How long a download can be started with its target (milliseconds). */
export const downloadLifetimeMs = 5 * 60 * 1000;
