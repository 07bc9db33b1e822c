import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { operationOf } from './observe-requests.ts';
import { createdIdOf, organizationOf, requestIdOf } from './request.ts';

/**
 * Writes one line for each request when its response is complete, or its client has left: its operation, its status, its duration (`ms`),
 * the organization in which it was authorized, and the id of the row that it made. Never its path or query string, which may hold a token.
 * Probes are `debug`.
 */
export function logRequests(log: Logger): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => {
      const operation = operationOf(req.originalUrl, res);
      const line = {
        requestId: requestIdOf(res),
        operation,
        method: req.method,
        status: res.writableFinished ? res.statusCode : 'aborted',
        ms: Math.round(performance.now() - startedAt),
        organizationId: organizationOf(res),
        createdId: createdIdOf(res),
      };
      log[operation === 'health' ? 'debug' : 'info'](line, 'request');
    });
    next();
  };
}
