import { getCookies } from 'better-auth/cookies';
import type { ServerConfig } from '../../base/config/server.ts';

const day = 24 * 60 * 60;

/** The lifetime of a session, and the time after which its use extends it, in seconds. A session that is not remembered lives a day. */
export const sessionLifetime = { expiresIn: 7 * day, updateAge: day };

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
