import type { Readable } from 'node:stream';

export { objectKey } from './object-key.ts';

/** Where the bytes of an upload go: the client sends a PUT to `url` with exactly these `headers`, begun before `expiresAt`. */
export interface UploadTarget {
  url: string;
  headers: Record<string, string>;
  expiresAt: Date;
}

/** Where the bytes of a document come from: a GET of `url`, begun before `expiresAt`. */
export interface DownloadTarget {
  url: string;
  expiresAt: Date;
}

/** What the store measured of an object. */
export interface StoredObject {
  sizeBytes: number;
}

/**
 * The store of document bytes. Keys are made by {@link objectKey}: `<organizationId>/<documentId>`; any other key throws.
 * Failures of the store itself throw; an absent object is never an error. An object that exists is never overwritten.
 */
export interface Storage {
  readonly driver: 'local' | 'bucket';
  /** Where objects lie, for the operator: a directory or a bucket's name. */
  readonly location: string;
  /** Signs a target that accepts one object, once, for an hour. */
  signUpload(input: { key: string; contentType: string }): Promise<UploadTarget>;
  /** Signs a GET that downloads the object under `fileName` for five minutes. */
  signDownload(input: { key: string; contentType: string; fileName: string }): Promise<DownloadTarget>;
  /** Measures an object; undefined where there is none. */
  stat(key: string): Promise<StoredObject | undefined>;
  /** Streams an object's bytes; undefined where there is none. */
  read(key: string): Promise<Readable | undefined>;
  /** Deletes an object; deleting an absent one succeeds. */
  delete(key: string): Promise<void>;
  /** Lists keys that begin with `prefix` (`<organizationId>/` or empty), a page at a time, in bounded memory. */
  list(prefix: string): AsyncIterable<{ key: string; createdAt: Date }>;
}

/** How long an upload target may begin to be used (milliseconds). */
export const uploadLifetimeMs = 60 * 60 * 1000;

/** How long a download target may begin to be used (milliseconds). */
export const downloadLifetimeMs = 5 * 60 * 1000;
