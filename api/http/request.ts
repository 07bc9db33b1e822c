import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { clientAddress } from '../client-address.ts';
import type { RequestInfo } from '../procedure.ts';

const wellFormed = /^[A-Za-z0-9._-]{1,128}$/;

/** Gives each request its id, the client's own when well-formed, and the address it came from. */
export function requestContext(trustProxy: boolean): RequestHandler {
  return (req, res, next) => {
    const given = req.get('x-request-id');
    const requestId = given !== undefined && wellFormed.test(given) ? given : randomUUID();
    res.locals.requestId = requestId;
    res.locals.clientAddress = clientAddress(req, trustProxy);
    res.setHeader('X-Request-Id', requestId);
    next();
  };
}

export function requestIdOf(res: Response): string {
  return String(res.locals.requestId);
}

export function clientAddressOf(res: Response): string {
  return String(res.locals.clientAddress);
}

/** The request as procedures see it. */
export function requestInfo(req: Request, res: Response): RequestInfo {
  return {
    requestId: requestIdOf(res),
    clientAddress: clientAddressOf(res),
    idempotencyKey: req.get('idempotency-key'),
    lastEventId: req.get('last-event-id'),
    signal: closeSignal(res),
    hangUp: () => res.destroy(),
    setHeader: (name, value) => res.setHeader(name, value),
  };
}

function closeSignal(res: Response): AbortSignal {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  // A client may leave while the request is still being looked at.
  if (res.closed) controller.abort();
  return controller.signal;
}
