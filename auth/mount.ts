import type { IncomingHttpHeaders } from 'node:http';
import { getRequest, setResponse } from 'better-call/node';
import type { Request as ExpressRequest, Response as ExpressResponse, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { whenClientLeaves } from '../concurrency/when-client-leaves.ts';
import type { Release } from '../concurrency/semaphore.ts';
import type { ServerConfig } from '../config/server.ts';
import { ApiError } from '../contract/api-error.ts';
import { type ErrorCode, errorCodes, maxBodyBytes } from '../contract/errors.ts';
import { inShareOf } from '../db/fair-share.ts';
import { isUnavailable } from '../db/unavailable.ts';
import { runAsActor } from './actor.ts';
import { type Auth, clientAddressHeader } from './auth.ts';
import { checkText, UnfitText } from './check-text.ts';
import { toErrorResponse } from './error-response.ts';
import { isList, ListTurns } from './list-turns.ts';
import { BodyTooLarge, readBody } from './read-body.ts';
import type { FindSession } from './session.ts';
import { sessionCookieName, sessionSecret } from './session-options.ts';
import { carryOnly, readSessionToken } from './session-token.ts';

/** The path of the handler. Mount it before any body parser. */
export const authPath = '/api/auth/{*any}';

const basePath = '/api/auth';

/** What the largest request of better-auth's endpoints may have, in bytes. Only Stripe sends more, if it is configured. */
const maxOwnBodyBytes = 64 * 1024;
const webhookPath = `${basePath}/stripe/webhook`;

/** When a client may ask again that the service could not serve. */
const retrySeconds = 2;
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Methods that fetch does not know: no `Request` can have them. */
const notOfFetch = new Set(['CONNECT', 'TRACE', 'TRACK']);
const notServed = () => toErrorResponse(new Response(null, { status: 404 }), { path: '', isSignedIn: false });

export interface MountOptions {
  auth: Auth;
  config: ServerConfig;
  findSession: FindSession;
  log: Logger;
  /** The client's address as the whole API sees it. */
  clientAddress(req: ExpressRequest, res: ExpressResponse): string;
  /** Waits until a body of at most so many bytes may be read; returns how to let go of it. Throws as `beginWrite` does. */
  admitBody(req: ExpressRequest, res: ExpressResponse, maxBytes: number): Promise<Release>;
  /** Waits until a user may change something; returns how to end the change. Throws ApiError, or the signal's reason. */
  beginWrite(userId: string, signal: AbortSignal): Promise<() => void>;
  /** Waits until a response of so many bytes may be sent to a user, who then has to read it in time. Throws as `beginWrite` does. */
  admitResponse(req: ExpressRequest, res: ExpressResponse, userId: string, bytes: number): Promise<void>;
}

/**
 * Serves better-auth: checks the origin, passes on the client's address, and sets the actor of changes. Needs `X-Request-Id` on the
 * response. Errors of better-auth get the API's envelope. Any other error becomes 500 `internal_error`.
 */
export function mountAuth(options: MountOptions): RequestHandler {
  const { auth, config, findSession, log, clientAddress, admitBody, beginWrite, admitResponse } = options;
  const base = new URL(config.apiUrl).origin;
  const trusted = new Set([...config.trustedOrigins, base]);
  const credential = { cookieName: sessionCookieName(config), secret: sessionSecret(config) };
  const lists = new ListTurns();
  return async (req, res) => {
    const releases: Release[] = [];
    try {
      if (notOfFetch.has(req.method)) return await setResponse(res, await notServed());
      const changes = !safeMethods.has(req.method);
      if (changes && !isAllowedOrigin(req.headers, trusted)) return refuseOrigin(res);
      const maxBytes = req.path === webhookPath && config.billing.enabled ? maxBodyBytes : maxOwnBodyBytes;
      if (Number(req.headers['content-length'] ?? 0) > maxBytes) return fail(res, 413, 'payload_too_large');
      if (changes && isForm(req.headers)) return refuseForm(res);
      const address = clientAddress(req, res);
      req.headers[clientAddressHeader] = address;
      if (changes) standInForBrowser(req.headers, base);
      if (changes) releases.push(await admitBody(req, res, maxBytes));
      // better-auth would read it only while it does what the request asks for.
      const body = changes ? await readBody(req, res, maxBytes) : undefined;
      // The request was ended because its body came too slowly.
      if (res.headersSent) return;
      // The webhook checks the signature of the very bytes.
      if (req.path !== webhookPath) checkText(req.url, body, req.headers['content-type']);
      const caller = await inShareOf(address, () => findSession(req.headers));
      // better-auth reads tokens by rules of its own, and does not ask whether the admin behind an impersonation still is one.
      carryOnly(req.headers, caller && readSessionToken(req.headers, credential), credential.cookieName);
      const request = new Request(getRequest({ base, request: req }), body ? { body } : {});
      const path = new URL(request.url).pathname.slice(basePath.length);
      const actor = changes ? caller : undefined;
      if (actor) releases.push(await beginWrite(actor.userId, whenClientLeaves(res)));
      const call = () => inShareOf(caller?.userId ?? address, () => runAsActor(actor, () => auth.handler(request)));
      const admit = (bytes: number) => admitResponse(req, res, caller?.userId ?? address, bytes);
      const list = isList(path) && caller && { userId: caller.userId, signal: whenClientLeaves(res) };
      const response = list ? await lists.read(list, call, admit) : await call();
      if (response.status === 500) return fail(res, 500, 'internal_error');
      const retryAfter = response.headers.get('x-retry-after');
      if (retryAfter) res.setHeader('Retry-After', retryAfter);
      // The HTTP edge has already set a stricter `Cache-Control`.
      response.headers.delete('cache-control');
      // A session that was begun or ended has a cookie of its own.
      if (caller?.refreshedCookie !== undefined && !response.headers.has('set-cookie')) res.append('Set-Cookie', caller.refreshedCookie);
      if (response.status < 400) return await setResponse(res, response);
      await setResponse(res, await toErrorResponse(response, { path, isSignedIn: caller !== undefined }));
    } catch (err) {
      // The request was ended before, or its client has left.
      if (res.headersSent || res.closed) return void res.destroy();
      if (err instanceof BodyTooLarge) return fail(res, 413, 'payload_too_large');
      if (err instanceof UnfitText) return refuseText(res, err.message);
      if (err instanceof ApiError) return refuse(res, err.code, err);
      if (isUnavailable(err)) {
        log.warn({ err, requestId: res.getHeader('X-Request-Id') }, 'a request was not served');
        return refuse(res, 'SERVICE_UNAVAILABLE');
      }
      log.error({ err, requestId: res.getHeader('X-Request-Id') }, 'Request to /api/auth failed');
      fail(res, 500, 'internal_error');
    } finally {
      for (const release of releases) release();
    }
  };
}

/** Sends an error of the API's own. */
function refuse(res: ExpressResponse, code: ErrorCode, { message, data, retryAfterSeconds }: Partial<ApiError> = {}): void {
  const { status } = errorCodes[code];
  const afterSeconds = retryAfterSeconds ?? (status === 503 ? retrySeconds : undefined);
  if (afterSeconds !== undefined) res.setHeader('Retry-After', String(afterSeconds));
  const envelope = { defined: true, code, status, message: message ?? errorCodes[code].message };
  res.status(status).json(data === undefined ? envelope : { ...envelope, data });
}

/** Browsers send an origin, maybe `null`, with every change. A request without one does not come from a browser. */
function isAllowedOrigin(headers: IncomingHttpHeaders, trusted: Set<string>): boolean {
  return headers.origin === undefined || trusted.has(headers.origin);
}

/**
 * better-auth requires an origin of every request with a cookie or a `Sec-Fetch-` header, because it takes that for a browser's. But
 * Node's fetch sends `Sec-Fetch-Mode`, and scripts may keep cookies. Only browsers send `Sec-Fetch-Site`, an origin or a referrer.
 */
function standInForBrowser(headers: IncomingHttpHeaders, origin: string): void {
  if (headers.origin !== undefined || headers.referer !== undefined || headers['sec-fetch-site'] !== undefined) return;
  headers.origin = origin;
}

function refuseOrigin(res: ExpressResponse): void {
  res.status(403).json({ defined: true, code: 'INVALID_ORIGIN', status: 403, message: 'Invalid origin' });
}

/** better-auth takes forms where users sign up and in, but pages of other sites can send them without being asked for permission. */
function isForm(headers: IncomingHttpHeaders): boolean {
  return /application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '');
}

function refuseForm(res: ExpressResponse): void {
  const message = 'The body must be JSON, with the header `Content-Type: application/json`.';
  res.status(415).json({ defined: true, code: 'UNSUPPORTED_MEDIA_TYPE', status: 415, message });
}

function refuseText(res: ExpressResponse, message: string): void {
  res.status(400).json({ defined: true, code: 'VALIDATION_ERROR', status: 400, message });
}

function fail(res: ExpressResponse, status: number, error: string): void {
  res.status(status).json({ error, requestId: res.getHeader('X-Request-Id') });
}
