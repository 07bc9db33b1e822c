import { createHash, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ServiceError } from '../service-error.ts';

/** Demands `X-Service-Token`; a null token lets everyone in. The comparison takes the same time for every token. */
export function authenticate(token: string | null): RequestHandler {
  const expected = token === null ? null : digest(token);
  return (request: Request, _response: Response, next: NextFunction) => {
    if (expected !== null && !timingSafeEqual(expected, digest(request.get('x-service-token') ?? ''))) {
      throw new ServiceError(401, 'unauthorized', 'The service token is missing or wrong.');
    }
    next();
  };
}

// Digests have one length, so neither the length nor a common prefix of the secret shows in the time.
function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
