import type { IncomingHttpHeaders } from 'node:http';
import { APIError } from 'better-auth/api';
import { untrustedOrigin } from '../../contract/untrusted-origin.ts';
import { BodyTooLarge } from './read-body.ts';

/**
 * Refuses a change because of its headers, before its body is read: with INVALID_ORIGIN if a browser sends it from an origin that is not
 * trusted, UNSUPPORTED_MEDIA_TYPE if it is a form, and {@link BodyTooLarge}.
 */
export function checkHead(headers: IncomingHttpHeaders, { trusted, maxBytes }: { trusted: Set<string>; maxBytes: number }): void {
  // Browsers send an origin, maybe `null`, with every change. A request without one does not come from a browser.
  if (headers.origin !== undefined && !trusted.has(headers.origin))
    throw new APIError('FORBIDDEN', { code: 'INVALID_ORIGIN', message: untrustedOrigin(headers.origin) });
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw new BodyTooLarge();
  // better-auth accepts forms for sign-up and sign-in, but pages of other sites can send forms without a CORS check.
  if (/application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? ''))
    throw new APIError('UNSUPPORTED_MEDIA_TYPE', { message: 'The body must be JSON, with the header `Content-Type: application/json`.' });
}

/**
 * better-auth requires an origin of every request with a cookie or a `Sec-Fetch-` header, because it takes that for a browser. But Node's
 * fetch sends `Sec-Fetch-Mode`, and scripts may keep cookies. Only browsers send `Sec-Fetch-Site`, an origin or a referrer.
 */
export function standInForBrowser(headers: IncomingHttpHeaders, origin: string): void {
  if (headers.origin !== undefined || headers.referer !== undefined || headers['sec-fetch-site'] !== undefined) return;
  headers.origin = origin;
}
