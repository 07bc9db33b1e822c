import type { IncomingMessage } from 'node:http';
import { type Response, Router } from 'express';
import { ObjectExistsError } from '../../storage/write-once.ts';
import { download } from './download.ts';
import { continueUpload } from './expect-continue.ts';
import { keyOf, type ObjectRequest, queryOf, type UploadOptions } from './object-request.ts';
import { refuseUpload } from './refuse-upload.ts';

const defaultStallTimeoutMs = 60_000;
// How much more than the largest upload a refused client may send before the connection closes.
const extraBodyBytes = 1024 * 1024;

/** The client sent more than the largest object. */
class TooLargeError extends Error {}

/** The body is not as long as its Content-Length said, or its connection broke before the response. */
class AbortedError extends Error {}

/**
 * `/uploads/{organizationId}/{documentId}`: the bytes of documents if no bucket is configured. The signed query string
 * is the only authorization. Bytes are streamed; an object appears whole or not at all, and is never replaced.
 */
export function uploadRoutes(options: UploadOptions): Router {
  const router = Router();
  router.put('/uploads/:organizationId/:documentId', (req, res) => upload(options, req, res));
  router.get('/uploads/:organizationId/:documentId', (req, res) => download(options, req, res));
  return router;
}

async function upload(options: UploadOptions, req: ObjectRequest, res: Response): Promise<void> {
  const { storage, maxUploadBytes } = options;
  const key = keyOf(req);
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
  // `req.socket` is gone once the request has broken off.
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
  // Not sent by Express, which would add an ETag.
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 2 }).end('{}');
}

/** The body of an upload as it arrives. Throws as soon as it is longer than allowed or declared, and if it ends early. */
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

/** Reads a request. Throws AbortedError if it breaks off. Whoever stops early can read on later, as a refusal does. */
async function* chunksOf(req: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* req.iterator({ destroyOnReturn: false });
  } catch (cause) {
    throw new AbortedError('The request broke off.', { cause });
  }
}

/**
 * Frees a chunk's memory at once. Chunks are large, short-lived and outside the heap that the garbage collector watches: without
 * this, twenty uploads at once fill a hundred megabytes before it runs.
 */
function free(chunk: Buffer): void {
  if (chunk.buffer instanceof ArrayBuffer && chunk.buffer.byteLength === chunk.byteLength) chunk.buffer.transfer(0);
}
