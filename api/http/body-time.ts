import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { ApiError } from '../../contract/api-error.ts';
import { malformed, renderError } from './errors.ts';
import { routeOf } from './identify-route.ts';
import { requestIdOf } from './request.ts';

/** How long a client has to read why its request was ended. */
const lingerMs = 1_000;

/**
 * Ends requests whose body does not arrive in time, such as one that comes a byte at a time: with BAD_REQUEST, or without a response if
 * there was one already. `hasOwnBounds` names the requests that are left to others.
 */
export function boundBodies(log: Logger, timeoutMs: number, hasOwnBounds: (req: Request) => boolean): RequestHandler {
  return (req, res, next) => {
    if (!hasBody(req) || hasOwnBounds(req)) return next();
    const timer = setTimeout(() => {
      if (req.complete) return;
      endRequest(log, req, res, malformed(['body'], `The body did not arrive within ${timeoutMs / 1_000} seconds.`));
    }, timeoutMs).unref();
    req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    next();
  };
}

/** Ends a request whose body still arrives, with an error, or without a response if there was one already. */
export function endRequest(log: Logger, req: Request, res: Response, error: ApiError): void {
  if (res.headersSent) return void req.socket.destroy();
  const { status, headers, envelope } = renderError(error, { requestId: requestIdOf(res), route: routeOf(res), log });
  const body = Buffer.from(JSON.stringify(req.originalUrl.startsWith('/rpc/') ? { json: envelope } : envelope));
  const form = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length, Connection: 'close' };
  res.writeHead(status, { ...headers, ...form });
  // Not `end`, which would close the connection: a client that still sends would lose the response.
  res.write(body);
  setTimeout(() => req.socket.destroy(), lingerMs).unref();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
