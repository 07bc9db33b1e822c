import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { maxBodyBytes } from '../../contract/errors.ts';
import { JsonDepth, maxJsonDepth } from '../../contract/json-depth.ts';
import type { LargeBodies } from '../limits/large-bodies.ts';
import { BodyTooLarge, malformed, notInUtf8 } from './errors.ts';
import { routeOf } from './identify-route.ts';

const jsonTypes = ['application/json', 'application/*+json'];

/** The maximum body of a stream whose route has none, in bytes. By RPC it names what to read, and is kept for as long as the stream is open. */
const maxStreamBodyBytes = 16 * 1024;

/**
 * Parses a JSON body of at most 1 MiB, or 16 KiB for a stream without a body of its own. A larger one is refused as soon as its size is
 * known. A body of another content type is BAD_REQUEST: if it were ignored, the request would succeed without its input. An empty body
 * needs no type.
 */
export function jsonBody(largeBodies: LargeBodies): RequestHandler {
  const ordinary = { maxBytes: maxBodyBytes, parse: createParser(maxBodyBytes) };
  const ofStream = { maxBytes: maxStreamBodyBytes, parse: createParser(maxStreamBodyBytes) };
  return async (req, res, next) => {
    const route = routeOf(res);
    const { maxBytes, parse } = route?.metadata.stream && !route.body ? ofStream : ordinary;
    if (Number(req.headers['content-length']) > maxBytes) throw new BodyTooLarge();
    await largeBodies.admit(req, res).catch((error) => {
      if (!isOver(res)) throw error;
    });
    if (isOver(res)) return;
    onceTooLarge(req, maxBytes, () => {
      if (!isOver(res)) next(new BodyTooLarge());
    });
    parse(req, res, (error) => {
      if (!isOver(res)) next(error);
    });
  };
}

/** Whether the client has left, or the request was ended because its body came too slowly. */
function isOver(res: Response): boolean {
  return res.closed || res.headersSent;
}

/** Calls back when a body without a declared length turns out too large: body-parser says so only when it has read the rest. */
function onceTooLarge(req: Request, maxBytes: number, callback: () => void): void {
  if (req.headers['transfer-encoding'] === undefined) return;
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) return;
    req.off('data', count);
    callback();
  };
  req.on('data', count);
}

function createParser(maxBytes: number): RequestHandler {
  return express.json({
    limit: maxBytes,
    type: () => true,
    // Whether a chunked body is empty is known only here.
    verify: (req, _res, body, charset) => {
      if (body.length > 0) checkForm(req as Request, body, charset);
    },
  });
}

/** Throws BAD_REQUEST for a body that must not be parsed. Its bytes show the depth of JSON only in UTF-8. */
function checkForm(req: Request, body: Buffer, charset: string): void {
  if (charset !== 'utf-8') throw notInUtf8();
  if (new JsonDepth().read(body).tooDeep) throw malformed(['body'], `The body is nested deeper than ${maxJsonDepth} levels.`);
  if (!req.is(jsonTypes)) {
    throw malformed(['Content-Type'], 'The body must be JSON, and the request must say so: send `Content-Type: application/json`.');
  }
  // The decoder would replace bytes that it does not understand by other characters.
  if (!isUtf8(body)) throw notInUtf8();
}
