import { requireBearerAuth } from '@modelcontextprotocol/express';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { type AuthInfo, createMcpHandler, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import express, { type RequestHandler, type Response, type Router } from 'express';
import { ApiError } from '../../contract/api-error.ts';
import type { Contract } from '../../contract/index.ts';
import { untrustedOrigin } from '../../contract/untrusted-origin.ts';
import type { KeyCaller } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { malformed } from '../http/errors.ts';
import { jsonBody } from '../http/json-body.ts';
import { requestIdOf, requestInfo } from '../http/request.ts';
import { limitRequests } from '../limits/limiters.ts';
import { type Procedures, run } from '../procedure.ts';
import { createMcpServer } from './server.ts';
import type { ToolContext } from './tool.ts';

const path = '/mcp';
const hourSeconds = 3_600;

/** The MCP server at `/mcp`, for clients with an API key. It keeps nothing between two requests. */
export function mcpRoutes(deps: ApiDeps, procedures: Procedures<Contract>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const serve: RequestHandler = async (req, res) => {
    const context = createContext(deps, procedures, res.locals.key as KeyCaller, () => requestInfo(req, res));
    const options = { writes: deps.config.mcpWrites, requestId: requestIdOf(res), log: deps.log };
    const handler = createMcpHandler(() => createMcpServer(context, options), {
      onerror: (err) => deps.log.warn({ err, requestId: options.requestId }, 'a request of an MCP client was not served'),
    });
    res.once('close', () => void handler.close());
    await toNodeHandler(handler)(req, res, req.body);
  };
  const limited = limitRequests(deps.limiters, deps.authentication);
  router.all(path, limited, knownOrigin(deps.config), authorized, jsonBody(deps.largeBodies), single, serve);
  return router;
}

/** Refuses a browser of another site, as both revisions demand. Other clients send no `Origin`. */
function knownOrigin({ trustedOrigins, apiUrl }: ApiDeps['config']): RequestHandler {
  const known = new Set([...trustedOrigins, new URL(apiUrl).origin]);
  return (req, _res, next) => {
    const origin = req.get('origin');
    if (origin !== undefined && !known.has(origin)) throw new ApiError('FORBIDDEN', { message: untrustedOrigin(origin) });
    next();
  };
}

/** Refuses a batch, which the SDK would serve: a request counts once for the key's limit. The revisions that clients speak have none. */
const single: RequestHandler = (req, _res, next) => {
  if (Array.isArray(req.body)) throw malformed(['body'], 'The body must be one message: batches are not served.');
  next();
};

/** Refuses a request without a live API key as MCP's clients expect it. {@link limitRequests} has looked the key up. */
const authorized: RequestHandler = (req, res, next) => {
  const verifyAccessToken = async (token: string) => authInfoOf(res, token);
  return requireBearerAuth({ verifier: { verifyAccessToken } })(req, res, next);
};

function authInfoOf(res: Response, token: string): AuthInfo {
  const key = res.locals.key as KeyCaller | undefined;
  if (!key) throw new OAuthError(OAuthErrorCode.InvalidToken, 'This is no API key, or it is revoked, expired or suspended.');
  res.locals.caller = key;
  // The SDK refuses a token without expiry. A key without one gets an hour, and is looked up again for each request anyway.
  const expiresAt = Math.floor((key.expiresAt?.getTime() ?? Date.now() + hourSeconds * 1_000) / 1_000);
  return { token, clientId: key.keyId, scopes: key.permissions, expiresAt };
}

/** Runs operations as a key, within the request of its client. An operation sees no headers, since they are about the whole request. */
function createContext(
  deps: ApiDeps,
  procedures: Procedures<Contract>,
  key: KeyCaller,
  requestOf: () => ReturnType<typeof requestInfo>,
): ToolContext {
  return {
    key,
    procedures,
    storage: deps.storage,
    run(procedure, input) {
      const request = { ...requestOf(), idempotencyKey: undefined, lastEventId: undefined };
      return run(deps, procedure, { input, caller: key, request }) as never;
    },
  };
}
