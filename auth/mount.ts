import type { IncomingHttpHeaders } from 'node:http';
import { getRequest, setResponse } from 'better-call/node';
import type { Request as ExpressRequest, Response as ExpressResponse, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Release } from '../concurrency/fair-semaphore.ts';
import { whenClientLeaves } from '../concurrency/when-client-leaves.ts';
import type { ServerConfig } from '../config/server.ts';
import { inShareOf } from '../db/fair-share.ts';
import { runAsActor } from './actor.ts';
import { type Auth, clientAddressHeader } from './auth.ts';
import { basePath, largestAuthBody, webhookPath } from './body-size.ts';
import { checkText } from './check-text.ts';
import { toErrorResponse } from './error-response.ts';
import { isList, ListTurns } from './list-turns.ts';
import { readBody } from './read-body.ts';
import { fail, refuseError, refuseForm, refuseOrigin } from './refuse.ts';
import type { Caller, FindSession } from './session.ts';
import { sessionCookieName, sessionSecret } from './session-options.ts';
import { carryOnly, readSessionToken } from './session-token.ts';

/** The path of the handler. Mount it before any body parser. */
export const authPath = `${basePath}/{*any}`;

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
  /** Waits until a user, or an address if nobody is signed in, may read something. Throws as `beginWrite` does. */
  beginRead(requester: string, signal: AbortSignal): Promise<void>;
  /** Waits until a user may change something; returns how to end the change. Throws ApiError, or the signal's reason. */
  beginWrite(userId: string, signal: AbortSignal): Promise<() => void>;
  /** Waits until a response of so many bytes may be sent to a user, who then has to read it in time. Throws as `beginWrite` does. */
  admitResponse(req: ExpressRequest, res: ExpressResponse, userId: string, bytes: number): Promise<void>;
  /** Delays a refusal with `Retry-After` if the user, or the address if nobody is signed in, came back before it was told to. */
  beginRefusal(requester: string, retryAfterSeconds: number, res: ExpressResponse): Promise<void>;
}

/**
 * Serves better-auth: checks the origin, passes on the client's address, and sets the actor of changes. Needs `X-Request-Id` on the
 * response. Errors of better-auth get the API's envelope. Any other error becomes 500 `internal_error`.
 */
export function mountAuth(options: MountOptions): RequestHandler {
  const handler = new AuthHandler(options);
  return async (req, res) => {
    const releases: Release[] = [];
    try {
      await handler.serve(req, res, releases);
    } catch (error) {
      refuseError(res, error, options.log);
    } finally {
      for (const release of releases) release();
    }
  };
}

class AuthHandler {
  readonly #options: MountOptions;
  readonly #base: string;
  readonly #trusted: Set<string>;
  readonly #credential: { cookieName: string; secret: string };
  readonly #lists = new ListTurns();

  constructor(options: MountOptions) {
    const { config } = options;
    this.#options = options;
    this.#base = new URL(config.apiUrl).origin;
    this.#trusted = new Set([...config.trustedOrigins, this.#base]);
    this.#credential = { cookieName: sessionCookieName(config), secret: sessionSecret(config) };
  }

  /** Adds to `releases` what is to be let go of when the request has ended. */
  async serve(req: ExpressRequest, res: ExpressResponse, releases: Release[]): Promise<void> {
    const { config, findSession, clientAddress, admitBody, beginRead, beginWrite, beginRefusal } = this.#options;
    if (notOfFetch.has(req.method)) return await setResponse(res, await notServed());
    const changes = !safeMethods.has(req.method);
    const maxBytes = largestAuthBody(req.path, { hasWebhook: config.billing.enabled });
    if (this.#refuseHead(req, res, { changes, maxBytes })) return;
    const address = clientAddress(req, res);
    req.headers[clientAddressHeader] = address;
    if (changes) standInForBrowser(req.headers, this.#base);
    if (changes) releases.push(await admitBody(req, res, maxBytes));
    // better-auth would read it only while it does what the request asks for.
    const body = changes ? await readBody(req, res, maxBytes) : undefined;
    // The request was ended because its body came too slowly.
    if (res.headersSent) return;
    // The webhook checks the signature of the very bytes.
    if (req.path !== webhookPath) checkText(req.url, body, req.headers['content-type']);
    const caller = await inShareOf(address, () => findSession(req.headers));
    // better-auth reads tokens by rules of its own, and does not ask whether the admin behind an impersonation still is one.
    carryOnly(req.headers, caller && readSessionToken(req.headers, this.#credential), this.#credential.cookieName);
    const request = new Request(getRequest({ base: this.#base, request: req }), body ? { body } : {});
    const path = new URL(request.url).pathname.slice(basePath.length);
    const actor = changes ? caller : undefined;
    if (actor) releases.push(await beginWrite(actor.userId, whenClientLeaves(res)));
    const requester = caller?.userId ?? address;
    if (!changes) await beginRead(requester, whenClientLeaves(res));
    const call = () => inShareOf(requester, () => runAsActor(actor, () => this.#options.auth.handler(request)));
    const admit = (bytes: number) => this.#options.admitResponse(req, res, requester, bytes);
    const list = isList(path) && caller && { userId: caller.userId, signal: whenClientLeaves(res) };
    const response = list ? await this.#lists.read(list, call, admit) : await call();
    const retryAfter = response.status === 429 ? response.headers.get('x-retry-after') : null;
    if (retryAfter !== null) {
      // Others would wait for what the request holds.
      for (const release of releases.splice(0)) release();
      await beginRefusal(requester, Number(retryAfter), res);
    }
    await sendResponse(res, response, { path, caller });
  }

  /** Refuses a request because of its method, origin or headers. Returns whether it did. */
  #refuseHead(req: ExpressRequest, res: ExpressResponse, { changes, maxBytes }: { changes: boolean; maxBytes: number }): boolean {
    if (changes && !isAllowedOrigin(req.headers, this.#trusted)) refuseOrigin(res);
    else if (Number(req.headers['content-length'] ?? 0) > maxBytes) fail(res, 413, 'payload_too_large');
    else if (changes && isForm(req.headers)) refuseForm(res);
    else return false;
    return true;
  }
}

/** Sends the response of better-auth, its errors in the API's envelope. */
async function sendResponse(
  res: ExpressResponse,
  response: Response,
  { path, caller }: { path: string; caller: Caller | undefined },
): Promise<void> {
  if (response.status === 500) return fail(res, 500, 'internal_error');
  const retryAfter = response.headers.get('x-retry-after');
  if (retryAfter) res.setHeader('Retry-After', retryAfter);
  // The HTTP edge has already set a stricter `Cache-Control`.
  response.headers.delete('cache-control');
  // A session that was begun or ended has a cookie of its own.
  if (caller?.refreshedCookie !== undefined && !response.headers.has('set-cookie')) res.append('Set-Cookie', caller.refreshedCookie);
  if (response.status < 400) return await setResponse(res, response);
  await setResponse(res, await toErrorResponse(response, { path, isSignedIn: caller !== undefined }));
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

/** better-auth takes forms where users sign up and in, but pages of other sites can send them without being asked for permission. */
function isForm(headers: IncomingHttpHeaders): boolean {
  return /application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '');
}
