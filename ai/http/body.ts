import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { z } from 'zod';
import { ServiceError } from '../service-error.ts';

const idleMs = 30_000;

/** The sender disconnected or stopped sending, so there is nobody to respond to. */
export class BodyAborted extends Error {
  constructor() {
    super('The request ended before its body did.');
    this.name = 'BodyAborted';
  }
}

/**
 * Reads a body of at most `maxBytes` and never holds more than that. A larger declared length is refused before a byte is read.
 * Throws ServiceError 400 `unsupported_encoding` or 413 `too_large`, or BodyAborted if the sender disconnects or is silent for 30 s.
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
    // With a declared length each chunk is copied into the final buffer; only a chunked body needs concatenation at the end.
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

/**
 * Reads a JSON body and validates it. Throws ServiceError: 413 `too_large`, 400 `malformed_json`, 422 `invalid_request`
 * naming the fields.
 */
export async function readJson<T extends z.ZodType>(request: Request, schema: T, maxBytes: number): Promise<z.output<T>> {
  const body = await readBody(request, maxBytes);
  const parsed = schema.safeParse(parse(body));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 5).map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`);
  throw new ServiceError(422, 'invalid_request', `The request is invalid. ${issues.join('; ')}`);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new ServiceError(400, 'malformed_json', 'The body is not valid JSON.');
  }
}
