import type { IncomingMessage } from 'node:http';

/** Thrown if the client sent more than the largest object. */
export class TooLargeError extends Error {}

/** Thrown if the body is not as long as its Content-Length, or its connection broke before the response. */
export class AbortedError extends Error {}

interface ReceiveLimits {
  declaredBytes: number;
  maxUploadBytes: number;
  /** The bytes to keep. The rest is read and dropped: it exceeds the object's size, and must not fill the disk. */
  keptBytes: number;
}

/** The body of an upload as it arrives. Throws as soon as it is longer than allowed or declared, or ends early. */
export async function* receive(req: IncomingMessage, limits: ReceiveLimits): AsyncGenerator<Buffer> {
  const { socket } = req;
  let receivedBytes = 0;
  for await (const chunk of chunksOf(req)) {
    const keptBytes = limits.keptBytes - receivedBytes;
    receivedBytes += chunk.length;
    if (receivedBytes > limits.maxUploadBytes) throw new TooLargeError();
    if (receivedBytes > limits.declaredBytes) throw new AbortedError();
    if (keptBytes <= 0) free(chunk);
    else yield chunk.length > keptBytes ? chunk.subarray(0, keptBytes) : chunk;
  }
  // More bytes than declared look like a broken next request: the parser has then closed the connection.
  if (receivedBytes !== limits.declaredBytes || !socket.writable) throw new AbortedError();
}

/**
 * Frees a chunk's memory at once. Chunks are large, short-lived and outside the heap that the garbage collector watches: without
 * this, twenty uploads at once fill a hundred megabytes before it runs.
 */
export function free(chunk: Buffer): void {
  if (chunk.buffer instanceof ArrayBuffer && chunk.buffer.byteLength === chunk.byteLength) chunk.buffer.transfer(0);
}

/** Reads a request. Throws AbortedError if it breaks off. A reader that stops early can go on later; refusals do so. */
async function* chunksOf(req: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* req.iterator({ destroyOnReturn: false });
  } catch (cause) {
    throw new AbortedError('The request broke off.', { cause });
  }
}
