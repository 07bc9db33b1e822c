import { createHash } from 'node:crypto';
import { getCookies } from 'better-auth/cookies';
import { deriveKeys } from '../../base/config/keys.ts';
import type { ServerConfig } from '../../base/config/server.ts';

const day = 24 * 60 * 60;

/** The lifetime of a session, and the time after which its use extends it, in seconds. A session that is not remembered lives a day. */
export const sessionLifetime = { expiresIn: 7 * day, updateAge: day };

/** The secret that signs session cookies and bearer tokens, then the one that may have signed those that exist. */
export function sessionSecrets(config: Pick<ServerConfig, 'authSecret' | 'previousAuthSecret'>): [string, ...string[]] {
  const [secret, ...previous] = deriveKeys(config, 'session');
  return [secret.toString('base64url'), ...previous.map((each) => each.toString('base64url'))];
}

/**
 * The same for better-auth, which signs with the first one only and encrypts second factors with a note of which one. The note is made of
 * the secret itself, so that it stays the same when another one comes before it. What has none yet was encrypted with the oldest.
 */
export function authSecrets(config: ServerConfig): { secret: string; secrets: { version: number; value: string }[] } {
  const values = sessionSecrets(config);
  const versionOf = (value: string) => createHash('sha256').update(value).digest().readUInt32BE();
  return { secret: values.at(-1) ?? values[0], secrets: values.map((value) => ({ version: versionOf(value), value })) };
}

/** The options that decide the names and attributes of better-auth's cookies. */
export function cookieOptions(config: ServerConfig) {
  return {
    baseURL: config.apiUrl,
    session: sessionLifetime,
    advanced: {
      useSecureCookies: config.apiUrl.startsWith('https://'),
      ...(config.cookieDomain && { crossSubDomainCookies: { enabled: true, domain: config.cookieDomain } }),
    },
  };
}

/** The name of the session cookie: it begins with `__Secure-` if the API is reached by https. */
export function sessionCookieName(config: ServerConfig): string {
  return getCookies(cookieOptions(config)).sessionToken.name;
}
