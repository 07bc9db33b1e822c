import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../service-error.ts';

const idleMs = 30_000;

/** The sender went away or stopped sending: there is nobody to answer. */
export class BodyAborted extends Error {
  constructor() {
    super('The request ended before its body did.');
    this.name = 'BodyAborted';
  }
}

/**
 * Reads a body of at most `maxBytes`, never holding more than that. A declared length over it is refused before a byte is read.
 * Throws ServiceError 413 `too_large`, or BodyAborted when the sender leaves or is silent for 30 s.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (request.headers['content-encoding'] && request.headers['content-encoding'] !== 'identity') {
    throw new ServiceError(400, 'unsupported_encoding', 'A compressed body is not accepted.');
  }
  const declared = request.headers['content-length'];
  const declaredBytes = declared === undefined ? undefined : Number(declared);
  if (declaredBytes !== undefined && declaredBytes > maxBytes) throw tooLarge(maxBytes);
  return await collect(request, maxBytes, declaredBytes);
}

function collect(request: IncomingMessage, maxBytes: number, declaredBytes: number | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // With a declared length the bytes go to their final place at once; only a chunked body is put together at the end.
    const whole = declaredBytes === undefined ? undefined : Buffer.allocUnsafeSlow(declaredBytes);
    const chunks: Buffer[] = [];
    let received = 0;
    const aborted = () => finish(() => reject(new BodyAborted()));
    const idle = setTimeout(aborted, idleMs);
    const onData = (chunk: Buffer) => {
      idle.refresh();
      if (received + chunk.length > maxBytes) return finish(() => reject(tooLarge(maxBytes)));
      if (whole) chunk.copy(whole, received);
      else chunks.push(chunk);
      received += chunk.length;
    };
    const onEnd = () => finish(() => resolve(whole ? whole.subarray(0, received) : Buffer.concat(chunks)));
    const finish = (settle: () => void) => {
      clearTimeout(idle);
      request.off('data', onData).off('end', onEnd).off('close', aborted).off('error', aborted);
      settle();
    };
    if (request.destroyed) return aborted();
    request.on('data', onData).on('end', onEnd).on('close', aborted).on('error', aborted);
  });
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError(413, 'too_large', `The document is larger than the ${maxBytes} bytes that this service accepts.`);
}
