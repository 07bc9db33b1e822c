import { setTimeout as sleep } from 'node:timers/promises';
import type { AuthContext, BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, getOAuthState } from 'better-auth/api';
import { genericOAuth } from 'better-auth/plugins/generic-oauth';
import type { ProviderConfig, ServerConfig } from '../../base/config/server.ts';
import { toDisplayName } from '../../contract/names.ts';
import { withoutSlash } from './access-tokens.ts';
import { toEmail } from './email-addresses.ts';

/** How long each request to a provider may take. */
const timeoutMs = 5_000;
const paths = new Set(['/sign-in/social', '/link-social', '/callback/:id', '/refresh-token', '/get-access-token', '/account-info']);

/**
 * The OpenID Connect providers. The generic OAuth plugin discovers its providers once, at boot, and drops those that do not respond. This
 * one discovers a provider on first use, and retries until it responds, so the API starts without them. Until then requests that need the
 * provider get 503.
 */
export function oidcPlugin(config: ServerConfig): BetterAuthPlugin {
  const discover = createDiscovery(config);
  return {
    id: 'oidc-providers',
    hooks: {
      before: [
        {
          matcher: (ctx) => paths.has(ctx.path ?? ''),
          handler: createAuthMiddleware(async (ctx) => {
            const wanted = ctx.body?.provider ?? ctx.body?.providerId ?? ctx.params?.id;
            const provider = config.providers.find((each) => each.id === wanted);
            if (provider) await discover(ctx.context, provider);
          }),
        },
      ],
    },
  };
}

function createDiscovery(config: ServerConfig) {
  const running = new Map<string, Promise<void>>();
  return (context: AuthContext, provider: ProviderConfig): Promise<void> => {
    if (isKnown(context, provider)) return Promise.resolve();
    const current = running.get(provider.id) ?? addProvider(context, provider, config).finally(() => running.delete(provider.id));
    running.set(provider.id, current);
    return current;
  };
}

function isKnown(context: AuthContext, provider: ProviderConfig): boolean {
  return context.socialProviders.some(({ id }) => id === provider.id);
}

/** Adds the provider to the list that all requests share. Throws SERVICE_UNAVAILABLE if it does not respond, or names another issuer. */
async function addProvider(context: AuthContext, provider: ProviderConfig, config: ServerConfig): Promise<void> {
  const { socialProviders } = (await inTime(pluginOf(provider, config).init(context))).context;
  const found = socialProviders.find(({ id }) => id === provider.id);
  if (!found?.issuer) throw unavailable();
  if (withoutSlash(found.issuer) !== withoutSlash(provider.issuer)) {
    context.logger.error(`The discovery of the sign-in provider at ${provider.issuer} names another issuer, ${found.issuer}.`);
    throw unavailable();
  }
  const { validateAuthorizationCode, getUserInfo, refreshAccessToken } = found;
  context.socialProviders.push({
    ...found,
    validateAuthorizationCode: (data) => inTime(validateAuthorizationCode(data)),
    getUserInfo: (tokens) => inTime(getUserInfo(tokens)),
    ...(refreshAccessToken && { refreshAccessToken: (...args) => inTime(refreshAccessToken(...args)) }),
  });
}

/** Throws SERVICE_UNAVAILABLE if the provider does not respond in time. better-auth has no such limit. */
function inTime<T>(asked: Promise<T>): Promise<T> {
  return Promise.race([asked, sleep(timeoutMs, undefined, { ref: false }).then(() => Promise.reject(unavailable()))]);
}

function unavailable(): APIError {
  return new APIError('SERVICE_UNAVAILABLE', { code: 'PROVIDER_UNAVAILABLE', message: 'The sign-in provider does not respond.' });
}

function pluginOf({ id, issuer, clientId, clientSecret }: ProviderConfig, { requireEmailVerification }: ServerConfig) {
  return genericOAuth({
    config: [
      {
        providerId: id,
        discoveryUrl: `${issuer}/.well-known/openid-configuration`,
        clientId,
        clientSecret,
        scopes: ['openid', 'email', 'profile'],
        requireIdTokenVerification: true,
        // If discovery names no algorithms of tokens, better-auth would take a claim `id`, which a user may have put into an ID token.
        accountSubject: ({ profile }) => profile.sub ?? '',
        // A user must have a name, but OpenID Connect does not guarantee one. The user did not choose it here, so it is adjusted instead of
        // refused.
        mapProfileToUser: async (profile) => ({
          // better-auth would begin a session for an address that the provider calls unverified. Without any it refuses, and stores nothing.
          email: requireEmailVerification && isUnverified(profile) ? undefined : toEmail(profile.email),
          name: [profile.name, profile.preferred_username, profile.email].map((name) => toDisplayName(name, { max: 120 })).find(Boolean),
          image: typeof profile.picture === 'string' && profile.picture.length <= 2_048 ? profile.picture : undefined,
          // Said here always: better-auth would take a claim `emailVerified`, which a user may have put into an ID token. Who adds a provider
          // is signed in with the same address here.
          emailVerified: (await getOAuthState())?.link ? !isUnverified(profile) : String(profile.email_verified) === 'true',
        }),
      },
    ],
  });
}

/** Some providers send texts, and those of an organization often nothing: its operator knows whose addresses they are. */
function isUnverified({ email_verified }: Record<string, unknown>): boolean {
  return String(email_verified ?? true) !== 'true';
}
