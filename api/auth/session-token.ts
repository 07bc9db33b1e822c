import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseCookies } from 'better-call';

/** A session token with a valid signature, and where the request carried it. */
interface SessionToken {
  token: string;
  /** The token with its signature. */
  signed: string;
  from: 'bearer' | 'cookie';
}

/** Whether a request has `Authorization: Bearer`. Then its cookie does not count, even if the token is invalid. */
export function hasBearer({ authorization = '' }: IncomingHttpHeaders): boolean {
  return /^bearer\b/i.test(authorization);
}

/** What follows `Authorization: Bearer`; undefined if the request has none, or more than one word. */
export function readBearer({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^bearer\s+(\S+)$/i.exec(authorization)?.[1];
}

/**
 * The session token of a request: `Authorization: Bearer` with the value of `set-auth-token`, or the session cookie if there is no bearer
 * token. Undefined without a valid signature. Does not check whether the session exists.
 */
export function readSessionToken(
  headers: IncomingHttpHeaders,
  options: { cookieName: string; secrets: [string, ...string[]] },
): SessionToken | undefined {
  if (hasBearer(headers)) {
    const bearer = readBearer(headers);
    const fromBearer = bearer && verify(decoded(bearer), options.secrets);
    return fromBearer ? { ...fromBearer, from: 'bearer' } : undefined;
  }
  const cookie = headers.cookie && parseCookies(headers.cookie).get(options.cookieName);
  const fromCookie = cookie && verify(cookie, options.secrets);
  return fromCookie ? { ...fromCookie, from: 'cookie' } : undefined;
}

/**
 * Changes headers so that they carry only this session token, or none. The next reader then finds the same session, however the request was
 * written.
 */
export function carryOnly(headers: IncomingHttpHeaders, session: SessionToken | undefined, cookieName: string): void {
  delete headers.authorization;
  const cookies = (headers.cookie ?? '').split(';').filter((cookie) => cookie.split('=')[0]?.trim() !== cookieName);
  if (session?.from === 'bearer') headers.authorization = `Bearer ${session.signed}`;
  if (session?.from === 'cookie') cookies.push(` ${cookieName}=${encodeURIComponent(session.signed)}`);
  const cookie = cookies.join(';').trim();
  if (cookie === '') delete headers.cookie;
  else headers.cookie = cookie;
}

/** The value before the last dot, if what follows is its HMAC in base64 by one of the secrets. It is signed again by the first one. */
function verify(signed: string, secrets: [string, ...string[]]): Pick<SessionToken, 'token' | 'signed'> | undefined {
  const dot = signed.lastIndexOf('.');
  if (dot < 1) return undefined;
  const value = signed.slice(0, dot);
  const given = Buffer.from(signed.slice(dot + 1), 'base64');
  const hmacs = secrets.map((secret) => createHmac('sha256', secret).update(value).digest());
  const isSigned = hmacs.some((expected) => given.length === expected.length && timingSafeEqual(given, expected));
  return isSigned ? { token: value, signed: `${value}.${hmacs[0]?.toString('base64')}` } : undefined;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
