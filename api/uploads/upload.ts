import type { IncomingMessage } from 'node:http';
import { type Request, type Response, Router } from 'express';
import type { LocalStorage } from '../../storage/local.ts';
import { ObjectExistsError } from '../../storage/write-once.ts';
import { continueUpload } from '../expect-continue.ts';
import { queryOf } from '../request-query.ts';
import { refuseUpload } from './before-body.ts';
import { download } from './download.ts';

const defaultStallTimeoutMs = 60_000;
// The server's body cap is that much more than the largest upload.
const extraBodyBytes = 1024 * 1024;

/** `maxUploadBytes` is the largest object; a client that sends no byte for `stallTimeoutMs` (a minute) is cut off. */
export interface UploadOptions {
  storage: LocalStorage;
  /** Whether the document of an object still exists: one that was deleted is `not_found`, whatever was signed before. */
  hasDocument(organizationId: string, documentId: string): Promise<boolean>;
  maxUploadBytes: number;
  stallTimeoutMs?: number;
}

/** What the path of an object names. */
export interface ObjectPath {
  organizationId: string;
  documentId: string;
  [name: string]: string;
}

/** The client sent more than the largest object. */
class TooLargeError extends Error {}

/** The body is not as long as its Content-Length said, or its connection broke down before it could be answered. */
class AbortedError extends Error {}

/**
 * `/uploads/{organizationId}/{documentId}`: the bytes of documents where no bucket is configured. The signed query string
 * is the only authorization. Bytes are streamed; an object appears whole or not at all, and is never replaced.
 */
export function uploadRoutes(options: UploadOptions): Router {
  const router = Router();
  router.put('/uploads/:organizationId/:documentId', (req, res) => upload(options, req, res));
  router.get('/uploads/:organizationId/:documentId', (req, res) => download(options, req, res));
  return router;
}

async function upload(options: UploadOptions, req: Request<ObjectPath>, res: Response): Promise<void> {
  const { storage, maxUploadBytes } = options;
  const key = `${req.params.organizationId}/${req.params.documentId}`;
  const refuse = (status: number, error: string) => refuseUpload(req, res, { status, error, lingerBytes: maxUploadBytes + extraBodyBytes });

  if (!storage.readGrant({ method: 'PUT', key, contentType: req.headers['content-type'], query: queryOf(req) }))
    return refuse(403, 'invalid_signature');
  const declaredLength = req.headers['content-length'];
  if (declaredLength === undefined) return refuse(411, 'length_required');
  const declaredBytes = Number(declaredLength);
  if (declaredBytes > maxUploadBytes) return refuse(413, 'too_large');
  if (!(await options.hasDocument(req.params.organizationId, req.params.documentId))) return refuse(404, 'not_found');
  if (await storage.stat(key)) return refuse(412, 'already_uploaded');

  continueUpload(req, res);
  // A request that breaks off loses its socket.
  const { socket } = req;
  req.setTimeout(options.stallTimeoutMs ?? defaultStallTimeoutMs, () => {
    if (!req.complete) res.destroy();
  });
  try {
    await storage.write(key, receive(req, { declaredBytes, maxUploadBytes }), { onWritten: free });
  } catch (error) {
    if (error instanceof ObjectExistsError) return refuse(412, 'already_uploaded');
    if (error instanceof TooLargeError) return refuse(413, 'too_large');
    if (error instanceof AbortedError) return void res.destroy();
    throw error;
  } finally {
    socket.setTimeout(0);
  }
  // Not by Express, which would add an ETag.
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 2 }).end('{}');
}

/** The body of an upload as it comes in. Throws as soon as it is longer than allowed or declared, and when it ends early. */
async function* receive(req: IncomingMessage, limits: { declaredBytes: number; maxUploadBytes: number }): AsyncGenerator<Buffer> {
  const { socket } = req;
  let receivedBytes = 0;
  for await (const chunk of chunksOf(req)) {
    receivedBytes += chunk.length;
    if (receivedBytes > limits.maxUploadBytes) throw new TooLargeError();
    if (receivedBytes > limits.declaredBytes) throw new AbortedError();
    yield chunk;
  }
  // More bytes than declared look like a broken next request: the parser has then closed the connection.
  if (receivedBytes !== limits.declaredBytes || !socket.writable) throw new AbortedError();
}

/** Reads a request. One that breaks off fails as aborted; one that is left early can still be read on, as a refusal must. */
async function* chunksOf(req: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* req.iterator({ destroyOnReturn: false });
  } catch (cause) {
    throw new AbortedError('The request broke off.', { cause });
  }
}

/**
 * Gives a chunk's memory back at once. Chunks are large and short-lived, and live outside the heap that the garbage collector
 * watches: left to it, twenty uploads at once fill a hundred megabytes before it looks.
 */
function free(chunk: Buffer): void {
  if (chunk.buffer instanceof ArrayBuffer && chunk.buffer.byteLength === chunk.byteLength) chunk.buffer.transfer(0);
}
