import type { Request, Response } from 'express';
import type { LocalStorage } from '../../adapters/storage/local.ts';
import type { Digest } from '../../domain/documents/digested.ts';
import type { UploadLimits } from './admission.ts';
import type { DownloadLimits } from './download-permits.ts';

/** `maxUploadBytes` is the largest object. */
export interface UploadOptions {
  storage: LocalStorage;
  /** The declared size of the document of an object; undefined if it was deleted: then even a signed request is `not_found`. */
  findDeclaredBytes(organizationId: string, documentId: string): Promise<number | undefined>;
  /** Stores the digest of the object that was just stored. Returns whether its document is there. */
  storeDigest(organizationId: string, documentId: string, stored: Digest): Promise<boolean>;
  maxUploadBytes: number;
  /** Every content type that a document may have. */
  contentTypes: readonly string[];
  limits: UploadLimits;
  downloads?: Partial<DownloadLimits> | undefined;
  /** Called with the reason whenever an upload is refused because the disk is full: the operator must act. */
  onStorageFull?(reason: unknown): void;
}

/** A request for the bytes of a document: its path names the object, and its signed query is the only authorization. */
export type ObjectRequest = Request<{ organizationId: string; documentId: string; [name: string]: string }>;

/** The key of the object. The signature is checked against it, so it may be any text. */
export function keyOf(req: ObjectRequest): string {
  return `${req.params.organizationId}/${req.params.documentId}`;
}

/** The query string as it was sent, whatever parser the application has. */
export function queryOf(req: ObjectRequest): URLSearchParams {
  return new URL(req.originalUrl, 'http://localhost').searchParams;
}

/** The body of an error: `{ error, requestId }`. */
export function errorBody(res: Response, error: string): Buffer {
  return Buffer.from(JSON.stringify({ error, requestId: res.locals.requestId ?? res.getHeader('X-Request-Id') ?? null }));
}
