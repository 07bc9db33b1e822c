import express, { type Request, type RequestHandler } from 'express';
import { maxBodyBytes } from '../../contract/errors.ts';
import { JsonDepth, maxJsonDepth } from '../../contract/json-depth.ts';
import { malformed } from './errors.ts';

const jsonTypes = ['application/json', 'application/*+json'];

/**
 * Parses a JSON body of at most 1 MiB. A body that does not say that it is JSON is BAD_REQUEST: if it were ignored, the request would
 * succeed without doing what it asked for. An empty body needs no type.
 */
export function jsonBody(): RequestHandler {
  return express.json({
    limit: maxBodyBytes,
    type: () => true,
    // Only here is it known whether a chunked body is empty.
    verify: (req, _res, body) => {
      if (new JsonDepth().read(body).tooDeep) throw malformed(['body'], `The body is nested deeper than ${maxJsonDepth} levels.`);
      if (body.length > 0 && !(req as Request).is(jsonTypes)) {
        throw malformed(['Content-Type'], 'The body must be JSON, and the request must say so: send `Content-Type: application/json`.');
      }
    },
  });
}
