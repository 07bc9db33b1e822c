import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
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
      if (res.headersSent) return void req.socket.destroy();
      const error = malformed(['body'], `The body did not arrive within ${timeoutMs / 1_000} seconds.`);
      const { status, envelope } = renderError(error, { requestId: requestIdOf(res), route: routeOf(res), log });
      const body = Buffer.from(JSON.stringify(req.path.startsWith('/rpc/') ? { json: envelope } : envelope));
      res.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length, Connection: 'close' });
      // Not `end`, which would close the connection: a client that still sends would lose the response.
      res.write(body);
      setTimeout(() => req.socket.destroy(), lingerMs).unref();
    }, timeoutMs).unref();
    req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    next();
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
