import { APIError } from 'better-auth/api';
import { getRequest, setResponse } from 'better-call/node';
import type { Request as ExpressRequest, Response as ExpressResponse, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { sessionSecrets } from '../../base/config/keys.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import { refuseReadOnly } from '../../domain/platform/read-only.ts';
import { runAsActor } from './actor.ts';
import type { Auth } from './auth.ts';
import { basePath, largestAuthBody, webhookPath } from './body-size.ts';
import { checkCredential } from './check-credential.ts';
import { checkHead, standInForBrowser } from './check-head.ts';
import { checkText } from './check-text.ts';
import { toErrorResponse } from './error-response.ts';
import { checkImpersonation } from './impersonation.ts';
import { buildAuthOpenApi } from './openapi.ts';
import { readBody } from './read-body.ts';
import { refuseError } from './refuse.ts';
import { clientAddressHeader } from './request-origin.ts';
import type { Caller, FindSession } from './session.ts';
import { sessionCookieName } from './session-options.ts';
import { carryOnly, readSessionToken } from './session-token.ts';

/** The path of the handler. Mount it before any body parser. */
export const authPath = `${basePath}/{*any}`;

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Where a GET changes something all the same: links of mails, and the way back from a provider. */
const changingLink = /^\/(?:callback\/|verify-email$|change-email\/confirm$|delete-user\/callback$|subscription\/success$)/;

/** Methods that a `Request` of fetch cannot have. */
const notOfFetch = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** The path of the OpenAPI document of these endpoints. */
const openApiPath = `${basePath}/openapi.json`;

interface MountOptions {
  auth: Auth;
  db: Db;
  config: ServerConfig;
  findSession: FindSession;
  log: Logger;
  /** The client's address, as the rest of the API determines it. */
  clientAddress(req: ExpressRequest, res: ExpressResponse): string;
}

/**
 * Serves better-auth: checks the origin, passes on the client's address, and sets the actor of changes. Needs `X-Request-Id` on the
 * response. Errors of better-auth get the API's envelope. Any other error becomes 500 `internal_error`.
 */
export function mountAuth(options: MountOptions): RequestHandler {
  const serve = createServe(options);
  const describe = once(() => buildAuthOpenApi(options.auth, { cookieName: sessionCookieName(options.config) }));
  const sendDescription = async (res: ExpressResponse) => void res.setHeader('Cache-Control', 'no-cache').json(await describe());
  return (req, res) => {
    const isDescription = req.path === openApiPath && (req.method === 'GET' || req.method === 'HEAD');
    return (isDescription ? sendDescription(res) : serve(req, res)).catch((error) => refuseError(res, error, options.log));
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

function createServe({ auth, db, config, findSession, clientAddress }: MountOptions) {
  const base = new URL(config.apiUrl).origin;
  const trusted = new Set([...config.trustedOrigins, base]);
  const credential = { cookieName: sessionCookieName(config), secrets: sessionSecrets(config) };

  return async (req: ExpressRequest, res: ExpressResponse): Promise<void> => {
    if (notOfFetch.has(req.method)) return await sendResponse(res, new Response(null, { status: 404 }), { path: '', caller: undefined });
    // better-auth routes by the path without dot segments, so nothing here may go by the path as it was sent.
    const path = new URL(`${base}${req.url}`).pathname;
    const changes = !safeMethods.has(req.method);
    const maxBytes = largestAuthBody(path, { hasWebhook: config.billing.enabled });
    if (changes) checkHead(req.headers, { trusted, maxBytes });
    if (changes) standInForBrowser(req.headers, base);
    req.headers[clientAddressHeader] = clientAddress(req, res);
    const body = changes ? await readBody(req, res, maxBytes) : undefined;
    // The request was ended because its body came too slowly.
    if (res.headersSent) return;
    // The webhook checks the signature of the exact bytes.
    if (path !== webhookPath) checkText(req.url, body, req.headers['content-type']);

    if (changes || changingLink.test(path.slice(basePath.length))) await refuseReadOnly(db);
    const caller = await findSession(req.headers);
    if (!caller) checkCredential(req.headers, path);
    if (caller?.lacksTwoFactor && path.startsWith(`${basePath}/admin/`)) throw twoFactorRequired();
    checkImpersonation(caller, path.slice(basePath.length));
    // better-auth parses tokens differently, and does not check whether the admin behind an impersonation is still one.
    carryOnly(req.headers, caller && readSessionToken(req.headers, credential), credential.cookieName);
    const request = new Request(getRequest({ base, request: req }), body ? { body } : {});
    const response = await runAsActor(changes ? caller : undefined, () => auth.handler(request));
    await sendResponse(res, response, { path: path.slice(basePath.length), caller });
  };
}

function twoFactorRequired(): APIError {
  const message = 'Platform admins need a second factor here: turn it on first.';
  return new APIError('FORBIDDEN', { code: 'TWO_FACTOR_REQUIRED', message });
}

/** Sends the response of better-auth, its errors in the API's envelope. */
async function sendResponse(
  res: ExpressResponse,
  response: Response,
  { path, caller }: { path: string; caller: Caller | undefined },
): Promise<void> {
  if (response.status === 500) throw new Error('better-auth failed');
  const retryAfter = response.headers.get('x-retry-after');
  if (retryAfter) res.setHeader('Retry-After', retryAfter);
  // The HTTP edge has already set a stricter `Cache-Control`.
  response.headers.delete('cache-control');
  // The response already sets a cookie if a session began or ended.
  if (caller?.refreshedCookie !== undefined && !response.headers.has('set-cookie')) res.append('Set-Cookie', caller.refreshedCookie);
  await setResponse(res, response.status < 400 ? response : await toErrorResponse(response, { path, isSignedIn: caller !== undefined }));
}
