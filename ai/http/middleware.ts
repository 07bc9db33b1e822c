import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { ServiceError } from '../service-error.ts';
import { tellUsage } from '../usage.ts';
import { BodyAborted } from './body.ts';

const wellFormedId = /^[A-Za-z0-9._-]{1,128}$/;
const drainMs = 10_000;

/** Puts the caller's `X-Request-Id` if it is well-formed, else a new id, into the response and `response.locals.requestId`. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id');
  const id = given !== undefined && wellFormedId.test(given) ? given : randomUUID();
  response.locals.requestId = id;
  response.set('X-Request-Id', id);
  next();
}

/** Logs one line for each request: its path, status and duration; never a body or a token. */
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

/**
 * Requires `X-Service-Token`, the present or the previous one; a null token lets everyone in. The comparison takes the same time for every
 * token.
 */
export function authenticate(token: string | null, previous?: string): RequestHandler {
  const expected = token === null ? null : [token, previous ?? token].map(digest);
  return (request: Request, _response: Response, next: NextFunction) => {
    const given = digest(request.get('x-service-token') ?? '');
    if (expected !== null && expected.filter((known) => timingSafeEqual(known, given)).length === 0) {
      throw new ServiceError(401, 'unauthorized', 'The service token is missing or wrong.');
    }
    next();
  };
}

// All digests have the same length, so the time reveals neither the length nor a prefix of the secret.
function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}

/** Renders every error as `{ error: { code, message } }`; an unexpected one is a 500 that does not reveal its cause. */
export function handleError(logger: Logger) {
  return (error: unknown, request: Request, response: Response, _next: NextFunction): void => {
    if (error instanceof BodyAborted || request.socket.destroyed) {
      request.socket.destroy();
      return;
    }
    const known = error instanceof ServiceError ? error : unexpected(error);
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
    tellUsage(response).status(known.status).json(known.toBody());
  };
}

/** Refuses a path that does not exist with 404. */
export function notFound(): never {
  throw new ServiceError(404, 'not_found', 'There is no such path.');
}

function unexpected(error: unknown): ServiceError {
  // Express sets a status on a client's mistake, such as a path with invalid percent-encoding.
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new ServiceError(status, 'bad_request', 'The request is malformed.');
  return new ServiceError(500, 'internal_error', 'The AI service failed unexpectedly.', { cause: error });
}

/**
 * Discards the rest of a refused body. If the connection were closed at once, a client that is still sending would see a reset
 * instead of the response.
 */
function drain(request: Request): void {
  if (request.complete) return;
  request.resume();
  const timer = setTimeout(() => request.socket.destroy(), drainMs);
  timer.unref();
  request.once('end', () => clearTimeout(timer));
  request.once('close', () => clearTimeout(timer));
}
