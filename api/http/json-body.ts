import express, { type Request, type RequestHandler } from 'express';
import { maxBodyBytes } from '../../contract/errors.ts';
import { JsonDepth, maxJsonDepth } from '../../contract/json-depth.ts';
import type { BodyBudget } from './body-budget.ts';
import { malformed } from './errors.ts';

const jsonTypes = ['application/json', 'application/*+json'];

/**
 * Parses a JSON body of at most 1 MiB. A body that does not say that it is JSON is BAD_REQUEST: if it were ignored, the request would
 * succeed without doing what it asked for. An empty body needs no type. The body counts in the budget until the response is over.
 */
export function jsonBody(budget: BodyBudget): RequestHandler {
  const readBytes = new WeakMap<object, number>();
  const parse = express.json({
    limit: maxBodyBytes,
    type: () => true,
    // Only here is it known whether a chunked body is empty.
    verify: (req, _res, body) => {
      readBytes.set(req, body.length);
      if (new JsonDepth().read(body).tooDeep) throw malformed(['body'], `The body is nested deeper than ${maxJsonDepth} levels.`);
      if (body.length > 0 && !(req as Request).is(jsonTypes)) {
        throw malformed(['Content-Type'], 'The body must be JSON, and the request must say so: send `Content-Type: application/json`.');
      }
    },
  });
  return async (req, res, next) => {
    const held = await budget.admit(req, res).catch((error) => {
      if (!res.closed) throw error;
    });
    if (res.closed) return;
    parse(req, res, (error) => {
      held?.shrinkTo(readBytes.get(req) ?? 0);
      next(error);
    });
  };
}
