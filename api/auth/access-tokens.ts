import { createRemoteJWKSet, decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';
import type { ProviderConfig } from '../../base/config/server.ts';
import { ApiError } from '../../contract/api-error.ts';

const timeoutMs = 5_000;
/** A provider whose clock is ahead issues tokens that are not valid yet. */
const clockToleranceSeconds = 30;
/** How soon keys are read again for a token whose key is unknown, so that made-up ones do not make us call the provider each time. */
const cooldownMs = 5_000;
/** Only those whose keys are public. With HS256, the public key itself would sign. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

/** A JWT access token of a configured provider, as it was verified. */
interface AccessToken {
  /** The provider's; several if the configuration has it twice. */
  providerIds: ProviderConfig['id'][];
  /** The person, as the provider names them. */
  subject: string;
  /** The OAuth client that holds the token. */
  clientId: string;
  scopes: string[];
  /** In seconds since 1970. */
  expiresAt: number;
}

/** The access tokens that one resource takes from the OpenID Connect providers of the deployment. */
export interface AccessTokens {
  /** The providers' own names of themselves; those of the configuration while they do not respond. */
  issuers(): Promise<string[]>;
  /**
   * Checks a token: signature, issuer, audience and time. Throws UNAUTHORIZED with what is wrong, and SERVICE_UNAVAILABLE while the
   * provider does not respond.
   */
  verify(token: string): Promise<AccessToken>;
}

/** Takes tokens whose audience is `resource` (RFC 8707). Providers are discovered on first use, so that the API starts without them. */
export function createAccessTokens(providers: ProviderConfig[], resource: string): AccessTokens {
  const known = providers.map((provider) => ({ provider, discover: discoverOnce(provider) }));
  return {
    issuers: () =>
      Promise.all(
        known.map(({ provider, discover }) =>
          discover().then(
            ({ issuer }) => issuer,
            () => provider.issuer,
          ),
        ),
      ),
    async verify(token) {
      const claimed = withoutSlash(claimedIssuer(token));
      const [found, ...others] = known.filter(({ provider }) => withoutSlash(provider.issuer) === claimed);
      if (!found) throw refused('its issuer is no provider of this service');
      const { issuer, keys } = await found.discover().catch(silent);
      const options = { issuer, audience: resource, algorithms, requiredClaims: ['exp', 'sub'], clockTolerance: clockToleranceSeconds };
      const { payload } = await jwtVerify(token, keys, options).catch(toApiError);
      return { providerIds: [found, ...others].map(({ provider }) => provider.id), ...claimsOf(payload) };
    },
  };
}

interface Issuer {
  issuer: string;
  keys: JWTVerifyGetKey;
}

const metadata = z.object({ issuer: z.string(), jwks_uri: z.url() });

/** Discovers a provider until it has responded once. Calls at the same time share one request. */
function discoverOnce(provider: ProviderConfig): () => Promise<Issuer> {
  let current: Promise<Issuer> | undefined;
  return () => {
    current ??= discover(provider).catch((error) => {
      current = undefined;
      throw error;
    });
    return current;
  };
}

async function discover({ issuer }: ProviderConfig): Promise<Issuer> {
  const response = await fetch(`${withoutSlash(issuer)}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(timeoutMs) });
  const { issuer: named, jwks_uri } = metadata.parse(await response.json());
  if (withoutSlash(named) !== withoutSlash(issuer)) throw new Error(`the provider at ${issuer} says that it is another`);
  const remote = createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: timeoutMs, cooldownDuration: cooldownMs });
  // A token whose key the provider does not have is refused; if the keys cannot be read, the provider does not respond.
  const keys: JWTVerifyGetKey = (header, jws) =>
    remote(header, jws).catch((error) => (isOfToken(error) ? Promise.reject(error) : silent(error)));
  return { issuer: named, keys };
}

function isOfToken(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
}

/** Some providers name themselves with a slash at the end, which is left out in their configuration here. */
export function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

function claimedIssuer(token: string): string {
  try {
    const { iss } = decodeJwt(token);
    return typeof iss === 'string' ? iss : '';
  } catch {
    throw refused('it is no JWT');
  }
}

function claimsOf(claims: JWTPayload): Omit<AccessToken, 'providerIds'> {
  const { sub, exp, scope, scp, azp, client_id: clientId, cnf } = claims;
  if (typeof sub !== 'string' || sub === '' || exp === undefined) throw refused('it names nobody');
  // Its holder would have to prove a key (RFC 9449, 8705), which nothing here checks.
  if (cnf !== undefined) throw refused('it is bound to a key');
  return { subject: sub, expiresAt: exp, clientId: String(clientId ?? azp ?? 'unknown'), scopes: toScopes(scope ?? scp) };
}

/** The claim is `scope`, words in a text (RFC 9068), or `scp` of some providers, a text or a list. */
function toScopes(claim: unknown): string[] {
  const words = Array.isArray(claim) ? claim : String(claim ?? '').split(' ');
  return words.filter((word) => typeof word === 'string' && word !== '');
}

function toApiError(error: unknown): never {
  throw error instanceof errors.JOSEError ? refused(error.message) : error;
}

function refused(why: string): ApiError {
  return new ApiError('UNAUTHORIZED', { message: `This access token is not valid: ${why}.` });
}

/** The cause is for the log: the provider may also be configured wrongly. */
function silent(cause: unknown): never {
  throw new ApiError('SERVICE_UNAVAILABLE', {
    message: 'The provider of this access token does not respond.',
    retryAfterSeconds: 5,
    cause,
  });
}
