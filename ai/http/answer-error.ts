import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { ServiceError } from '../service-error.ts';
import { BodyAborted } from './read-body.ts';

const drainMs = 10_000;

/** Renders every error as `{ error: { code, message } }`; what is unforeseen is a 500 that says nothing of its cause. */
export function answerError(logger: Logger) {
  return (error: unknown, request: Request, response: Response, _next: NextFunction): void => {
    if (error instanceof BodyAborted || request.socket.destroyed) {
      request.socket.destroy();
      return;
    }
    const known = error instanceof ServiceError ? error : unforeseen(error);
    if (known.status >= 500) {
      logger.error({ err: error, code: known.code, requestId: response.locals.requestId }, 'request failed');
    }
    if (response.headersSent) {
      request.socket.destroy();
      return;
    }
    drain(request);
    if (known.retryAfterSeconds !== undefined) response.set('Retry-After', String(known.retryAfterSeconds));
    response.locals.errorCode = known.code;
    response.status(known.status).json({ error: { code: known.code, message: known.message } });
  };
}

/** Answers a path that does not exist. */
export function notFound(): never {
  throw new ServiceError(404, 'not_found', 'There is no such path.');
}

function unforeseen(error: unknown): ServiceError {
  // Express and its router put a status on what a client did wrong, such as a path that is not valid percent-encoding.
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new ServiceError(status, 'bad_request', 'The request is malformed.');
  return new ServiceError(500, 'internal_error', 'The AI service failed unexpectedly.', { cause: error });
}

/**
 * Lets the rest of a refused body pass by. Closing at once would reset the connection under a client that still sends, and
 * the client would see the reset instead of the answer.
 */
function drain(request: Request): void {
  if (request.complete) return;
  request.resume();
  const timer = setTimeout(() => request.socket.destroy(), drainMs);
  timer.unref();
  request.once('end', () => clearTimeout(timer));
  request.once('close', () => clearTimeout(timer));
}
