import type { RequestHandler } from 'express';
import type { Logger } from 'pino';

/** Logs one line per answer: what was asked, how it ended and how long it took; never a body or a token. */
export function logRequests(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.once('close', () => {
      const fields = {
        method: request.method,
        path: request.path,
        status: response.writableFinished ? response.statusCode : null,
        errorCode: response.locals.errorCode,
        requestId: response.locals.requestId,
        durationMs: Math.round(performance.now() - startedAt),
      };
      if (request.path === '/health') logger.debug(fields, 'request');
      else logger.info(fields, response.writableFinished ? 'request' : 'caller went away');
    });
    next();
  };
}
