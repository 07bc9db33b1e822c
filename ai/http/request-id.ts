import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

const wellFormed = /^[A-Za-z0-9._-]{1,128}$/;

/** Echoes a well-formed `X-Request-Id`, else makes one; it stands in `response.locals.requestId`. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id');
  const id = given !== undefined && wellFormed.test(given) ? given : randomUUID();
  response.locals.requestId = id;
  response.set('X-Request-Id', id);
  next();
}
