import { requireBearerAuth } from '@modelcontextprotocol/express';
import { type AuthInfo, getOAuthProtectedResourceMetadataUrl, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import type { RequestHandler, Response } from 'express';
import { ApiError } from '../../contract/api-error.ts';
import { isSecret } from '../../domain/api-keys/secret.ts';
import { type AccessTokens, createAccessTokens } from '../auth/access-tokens.ts';
import { findLinkedUser } from '../auth/linked-user.ts';
import { readBearer } from '../auth/session-token.ts';
import type { Caller, KeyCaller } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { scopes } from './scopes.ts';

const hourSeconds = 3_600;

/** Who may call the MCP server: an API key and, where a provider of OpenID Connect is configured, a user by its access token. */
export interface Authorization {
  /** The path of the resource's metadata (RFC 9728), and what serves it; undefined without providers. */
  metadata: { path: string; serve: RequestHandler } | undefined;
  /** Refuses everybody else as MCP's clients expect it, and records the caller. Expects that the key was looked up. */
  authorized: RequestHandler;
}

/** Returns the authorization of the MCP server at a path of the API's public origin. */
export function createAuthorization({ config, sessionsDb }: ApiDeps, path: string): Authorization {
  const resource = new URL(path, config.apiUrl);
  const tokens = config.providers.length > 0 ? createAccessTokens(config.providers, resource.href) : undefined;
  const metadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
  const offered = config.mcpWrites ? [scopes.read, scopes.write] : [scopes.read];
  const options = tokens && { requiredScopes: [scopes.read], resourceMetadataUrl: metadataUrl };

  async function identify(token: string | undefined, res: Response): Promise<AuthInfo> {
    const key = res.locals.key as KeyCaller | undefined;
    if (token && key) return record(res, key, ofKey(token, key));
    if (!token || !tokens || isSecret(token))
      throw new ApiError('UNAUTHORIZED', { message: 'This is no API key, or it is revoked, expired or suspended.' });
    const { providerIds, subject, ...rest } = await tokens.verify(token);
    const user = await findLinkedUser(sessionsDb, { providerIds, subject });
    if (!user)
      throw new ApiError('FORBIDDEN', { message: 'No user who may sign in has this account of the provider. Sign in with it once.' });
    // A session of theirs would have needed the code.
    if (user.twoFactorEnabled)
      throw new ApiError('FORBIDDEN', { message: 'You have a second factor, which a token does not ask for: use an API key.' });
    return record(res, user, { token, resource, ...rest });
  }

  return {
    metadata: tokens && { path: new URL(metadataUrl).pathname, serve: serveMetadata(tokens, { resource: resource.href, offered }) },
    async authorized(req, res, next) {
      const known = await identify(readBearer(req.headers), res).catch(asChallenge);
      const verifyAccessToken = async () => (known instanceof OAuthError ? Promise.reject(known) : known);
      return requireBearerAuth({ verifier: { verifyAccessToken }, ...options })(req, res, next);
    },
  };
}

function record(res: Response, caller: Caller, info: AuthInfo): AuthInfo {
  res.locals.caller = caller;
  return info;
}

/** A key holds every scope: its permissions decide. The SDK refuses a token without expiry, so a key without one gets an hour. */
function ofKey(token: string, key: KeyCaller): AuthInfo {
  const expiresAt = Math.floor((key.expiresAt?.getTime() ?? Date.now() + hourSeconds * 1_000) / 1_000);
  return { token, clientId: key.keyId, scopes: Object.values(scopes), expiresAt };
}

/** 401 is the SDK's, with `WWW-Authenticate`. Other refusals are rendered like those of every request. */
function asChallenge(error: unknown): OAuthError {
  if (error instanceof ApiError && error.code === 'UNAUTHORIZED') return new OAuthError(OAuthErrorCode.InvalidToken, error.message);
  throw error;
}

function serveMetadata(tokens: AccessTokens, { resource, offered }: { resource: string; offered: string[] }): RequestHandler {
  return async (_req, res) => {
    res.json({
      resource,
      authorization_servers: await tokens.issuers(),
      scopes_supported: offered,
      bearer_methods_supported: ['header'],
      resource_name: 'Sheaf',
    });
  };
}
