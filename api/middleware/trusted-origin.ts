import type { RequestHandler } from 'express';
import { ApiError } from '../../contract/api-error.ts';
import { routeOf } from '../find-route.ts';

/**
 * Refuses a write that a cookie authenticates when a browser sends it from an origin that is not trusted: another site must
 * not act with the user's cookie. Bearer tokens are never sent by another site, and a public operation looks at no cookie.
 */
export function trustedOrigin(trustedOrigins: readonly string[]): RequestHandler {
  const trusted = new Set(trustedOrigins);
  return (req, res, next) => {
    const origin = req.get('origin');
    const writes = req.method !== 'GET' && req.method !== 'HEAD';
    const isPublic = routeOf(res)?.metadata.access === 'public';
    const byCookie = !isPublic && req.get('cookie') !== undefined && req.get('authorization') === undefined;
    if (writes && byCookie && origin !== undefined && !trusted.has(origin)) {
      throw new ApiError('FORBIDDEN', { message: 'This origin is not trusted.' });
    }
    next();
  };
}
