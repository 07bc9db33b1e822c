import express, { type Request, type RequestHandler } from 'express';
import { malformed } from './http/errors.ts';

/** The largest body of `/api/v1/*` and `/rpc/*`, in bytes. */
const maxBodyBytes = 1024 * 1024;

const jsonTypes = ['application/json', 'application/*+json'];

/**
 * Parses a JSON body of at most 1 MiB. A body that does not say that it is JSON is BAD_REQUEST: passed over, it would be a request
 * that succeeds without what was asked. A body that is empty needs no type.
 */
export function jsonBody(): RequestHandler {
  return express.json({
    limit: maxBodyBytes,
    type: () => true,
    // Only here is it known that a chunked body is not empty.
    verify: (req, _res, body) => {
      if (body.length > 0 && !(req as Request).is(jsonTypes)) {
        throw malformed(['Content-Type'], 'The body must be JSON, and the request must say so: send `Content-Type: application/json`.');
      }
    },
  });
}
