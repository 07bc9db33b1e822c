import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { buildOpenApi } from '../contract/openapi.ts';

/** Serves the OpenAPI document, built once. Its ETag answers a conditional request with 304. */
export function serveOpenApi(options: { cookieName: string }): RequestHandler {
  const body = Buffer.from(JSON.stringify(buildOpenApi(options)));
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  return (req, res) => {
    res.setHeader('Cache-Control', 'no-cache');
    res.setHeader('ETag', etag);
    if (matches(req.get('if-none-match'), etag)) return void res.status(304).end();
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.send(body);
  };
}

/** RFC 9110 §13.1.2. Not Express's `fresh`, which answers in full when a client also says `Cache-Control: no-cache`, as fetch does. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes('*') || tags.includes(etag);
}
