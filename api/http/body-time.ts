import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { requestIdOf } from './request.ts';

/** How long a client has to read the error response before its connection closes. */
const lingerMs = 1_000;

interface LeastRate {
  bytesPerSecond: number;
  /** The period over which the rate is counted. */
  windowMs: number;
}

/** Ends requests whose body arrives too slowly: see {@link endIfSlow}. Time in which nobody reads the body does not count. */
export function boundBodies(rate: LeastRate): RequestHandler {
  return (req, res, next) => {
    if (hasBody(req)) req.once('resume', () => endIfSlow(req, res, rate));
    next();
  };
}

/**
 * From now on ends a request whose body arrives more slowly than the least rate, with 408 `too_slow`, or without a response if one was sent
 * already.
 */
export function endIfSlow(req: Request, res: Response, { bytesPerSecond, windowMs }: LeastRate): void {
  const least = (bytesPerSecond * windowMs) / 1_000;
  let before = req.socket.bytesRead;
  const timer = setInterval(() => {
    const received = req.socket.bytesRead - before;
    before += received;
    if (!req.complete && received < least) endRequest(req, res);
  }, windowMs).unref();
  req.once('end', () => clearInterval(timer)).once('close', () => clearInterval(timer));
}

function endRequest(req: Request, res: Response): void {
  if (res.headersSent) return void req.socket.destroy();
  const body = Buffer.from(JSON.stringify({ error: 'too_slow', requestId: requestIdOf(res) }));
  res.writeHead(408, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length, Connection: 'close' });
  // Not `end`, which would close the connection: a client that still sends would lose the response.
  res.write(body);
  setTimeout(() => req.socket.destroy(), lingerMs).unref();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
