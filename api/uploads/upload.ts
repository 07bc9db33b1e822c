import { type Response, Router } from 'express';
import { ObjectExistsError } from '../../adapters/storage/write-once.ts';
import { type Digest, digested } from '../../domain/documents/digested.ts';
import { endIfSlow } from '../http/body-time.ts';
import { noteOrganization } from '../http/request.ts';
import { isDiskFull, storageFull, UploadAdmission, UploadRefused } from './admission.ts';
import { download } from './download.ts';
import { DownloadPermits } from './download-permits.ts';
import { continueUpload } from './expect-continue.ts';
import { keyOf, type ObjectRequest, queryOf, type UploadOptions } from './object-request.ts';
import { AbortedError, free, receive, TooLargeError } from './receive.ts';
import { refuseUpload } from './refuse-upload.ts';

// How much more than the largest upload a refused client may send before the connection closes.
const extraBodyBytes = 1024 * 1024;

/**
 * `/uploads/{organizationId}/{documentId}`: the bytes of documents if no bucket is configured. The signed query string
 * is the only authorization. Bytes are streamed; an object appears whole or not at all, and is never replaced.
 */
export function uploadRoutes(options: UploadOptions): Router {
  const router = Router();
  const admission = new UploadAdmission(options.limits, () => options.storage.freeBytes());
  const downloads = new DownloadPermits(options.downloads);
  router.put('/uploads/:organizationId/:documentId', (req, res) => upload(options, admission, req, res));
  router.get('/uploads/:organizationId/:documentId', (req, res) => download(options, downloads, req, res));
  return router;
}

/** Thrown if the link does not allow this upload. Unlike {@link UploadRefused}, the refusal is final. */
class InvalidUpload extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

type Refuse = (status: number, error: string, retryAfterSeconds?: number) => void;

async function upload(options: UploadOptions, admission: UploadAdmission, req: ObjectRequest, res: Response): Promise<void> {
  const { storage, maxUploadBytes } = options;
  const key = keyOf(req);
  const lingerBytes = maxUploadBytes + extraBodyBytes;
  const refuse: Refuse = (status, error, retryAfterSeconds) => refuseUpload(req, res, { status, error, retryAfterSeconds, lingerBytes });
  let release = () => {};
  try {
    const sizes = await checkHead(options, req, res);
    if (await storage.stat(key)) throw new ObjectExistsError();
    release = await admission.reserve(req.params.organizationId, sizes.keptBytes);
    continueUpload(req, res);
    endIfSlow(req, res, { bytesPerSecond: options.limits.minBytesPerSecond, windowMs: options.limits.rateWindowMs });
    const { bytes, result } = digested(receive(req, { ...sizes, maxUploadBytes }));
    await storage.write(key, bytes, { onWritten: free });
    await checkDocument(options, req, result());
  } catch (error) {
    return failed(error, options, refuse, res);
  } finally {
    release();
  }
  // 408 was sent if the last bytes came too slowly.
  if (res.headersSent) return;
  // Not sent by Express, which would add an ETag.
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 2 }).end('{}');
}

/** Stores the digest of the object, or deletes the object again if its document was deleted while it arrived. Throws {@link InvalidUpload}. */
async function checkDocument({ storage, storeDigest }: UploadOptions, req: ObjectRequest, stored: Digest): Promise<void> {
  if (await storeDigest(req.params.organizationId, req.params.documentId, stored)) return;
  await storage.delete(keyOf(req));
  throw new InvalidUpload(404, 'not_found');
}

/** The bytes that a request declares, and how many of them to keep. Throws {@link InvalidUpload}. */
async function checkHead(options: UploadOptions, req: ObjectRequest, res: Response): Promise<{ declaredBytes: number; keptBytes: number }> {
  const { storage, maxUploadBytes } = options;
  const [key, query] = [keyOf(req), queryOf(req)];
  const { organizationId, documentId } = req.params;
  const { 'content-type': contentType, 'content-length': declaredLength } = req.headers;
  const isGranted = (type: string | undefined) => storage.readGrant({ method: 'PUT', key, contentType: type, query }) !== undefined;
  const signed = [contentType, ...options.contentTypes].find(isGranted);
  if (signed === undefined) throw new InvalidUpload(403, 'invalid_signature');
  noteOrganization(res, organizationId);
  if (declaredLength === undefined) throw new InvalidUpload(411, 'length_required');
  const declaredBytes = Number(declaredLength);
  if (declaredBytes > maxUploadBytes) throw new InvalidUpload(413, 'too_large');
  if (!isGranted(contentType)) {
    // Only a client with a valid link learns this, and `upload.headers` had the type.
    res.setHeader('Accept', signed);
    throw new InvalidUpload(403, 'invalid_signature');
  }
  const documentBytes = await options.findDeclaredBytes(organizationId, documentId);
  if (documentBytes === undefined) throw new InvalidUpload(404, 'not_found');
  // With one byte too many, `documents.complete` sees that the object is larger than declared; more would be free storage.
  return { declaredBytes, keptBytes: Math.min(declaredBytes, documentBytes + 1) };
}

/** Tells the client why its upload was not stored. Rethrows errors that are not the client's. */
function failed(error: unknown, options: UploadOptions, refuse: Refuse, res: Response): void {
  if (res.headersSent) return;
  const refused = isDiskFull(error) ? storageFull() : error;
  if (refused instanceof UploadRefused) {
    if (refused.status === 507) options.onStorageFull?.(error);
    refuse(refused.status, refused.code, refused.retryAfterSeconds);
  } else if (error instanceof InvalidUpload) refuse(error.status, error.code);
  else if (error instanceof ObjectExistsError) refuse(412, 'already_uploaded');
  else if (error instanceof TooLargeError) refuse(413, 'too_large');
  else if (error instanceof AbortedError) res.destroy();
  else throw error;
}
