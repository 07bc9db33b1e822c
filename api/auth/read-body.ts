import express, { type Request, type Response } from 'express';
import { ApiError } from '../../contract/api-error.ts';
import { JsonDepth, maxJsonDepth } from '../../contract/json-depth.ts';

/** The body is too large. */
export class BodyTooLarge extends Error {}

/**
 * The bytes of a request's body without its compression, at most `maxBytes`; undefined if it is absent or empty, or has no content type.
 * Throws {@link BodyTooLarge}, and BAD_REQUEST if the body is cut short, has an unknown encoding, or holds JSON that is nested too deeply.
 */
export async function readBody(req: Request, res: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const parse = express.raw({ limit: maxBytes, type: () => true });
  await new Promise<void>((resolve, reject) => parse(req, res, (error) => (error ? reject(toError(error)) : resolve())));
  const body: unknown = req.body;
  if (!Buffer.isBuffer(body)) return undefined;
  if (body.length === 0) {
    // better-auth would read it as a body without a content type, or as invalid JSON.
    req.body = undefined;
    return undefined;
  }
  if (new JsonDepth().read(body).tooDeep) throw refused(`The body is nested deeper than ${maxJsonDepth} levels.`);
  return req.headers['content-type'] === undefined ? undefined : new Uint8Array(body);
}

/** body-parser names its errors by `type`. */
function toError(error: { type?: string; message: string }): Error {
  if (error.type === 'entity.too.large') return new BodyTooLarge();
  if (error.type === 'encoding.unsupported') return refused(error.message);
  const isCut = error.type === 'request.size.invalid' || error.type === 'request.aborted';
  return refused(isCut ? 'The body is not as long as its Content-Length says.' : 'The body cannot be read.');
}

function refused(message: string): ApiError {
  return new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['body'], message }] } });
}
