import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Request, RequestHandler } from 'express';
import type { ApiError } from '../../contract/api-error.ts';
import { deferContinueOfUploads } from '../uploads/expect-continue.ts';
import { securityHeaders } from './browser-security.ts';
import { malformed, refuseClientErrors } from './errors.ts';

/** An HTTP server that leaves requests to the application which Node would refuse without a response body: see {@link wellFormed}. */
export function createApiServer(app: RequestListener): Server {
  const server = createServer({ requireHostHeader: false });
  for (const event of ['checkContinue', 'request']) server.on(event, useOriginForm);
  server.on('request', app);
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    // A client whose expectation fails may leave out the body, and its next request would be read as the body.
    res.shouldKeepAlive = false;
    server.emit('request', req, res);
  });
  deferContinueOfUploads(server);
  refuseClientErrors(server);
  return server;
}

/** Removes scheme and host from an absolute request target, as clients send to proxies (RFC 9112, 3.2.2). */
function useOriginForm(req: IncomingMessage): void {
  const [, target] = /^https?:\/\/[^/?#]*(.*)$/is.exec(req.url ?? '') ?? [];
  if (target !== undefined) req.url = target.startsWith('/') ? target : `/${target}`;
}

/** Much longer than any path here. What takes a path apart, better-auth too, may need the square of its length. */
const maxPathLength = 2_000;

/** Refuses a request that is not well-formed: its version, its host, its path or its expectation. */
export const wellFormed: RequestHandler = (req, res, next) => {
  const problem = findProblem(req);
  if (!problem) return next();
  securityHeaders(req, res, () => {
    throw problem;
  });
};

function findProblem({ httpVersion, rawHeaders, headers: { host, expect }, url }: Request): ApiError | undefined {
  if (!httpVersion.startsWith('1.')) return malformed([], 'The request must say its version of HTTP: 1.1.');
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) return malformed(['Host'], 'The request must say once which host it is for.');
  const [path = ''] = url.split('?', 1);
  if (path.length > maxPathLength) return malformed(['path'], `A path has at most ${maxPathLength} characters.`);
  // A URL takes the one for the other.
  if (/[/\\]{2}/.test(path)) return malformed(['path'], 'No part of a path is empty.');
  if (httpVersion !== '1.1') return undefined;
  if (host === undefined) return malformed(['Host'], 'The request must say which host it is for: send `Host`.');
  if (expect !== undefined && !/100-continue/i.test(expect))
    return malformed(['Expect'], 'Nothing but `Expect: 100-continue` is understood.');
  return undefined;
}
