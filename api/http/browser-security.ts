import type { RequestHandler, Response } from 'express';
import { ApiError } from '../../contract/api-error.ts';
import { untrustedOrigin } from '../../contract/untrusted-origin.ts';
import { hasBearer } from '../auth/session-token.ts';
import { routeOf } from './identify-route.ts';

/** The headers of every response, errors and preflights included. */
export const securityHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  res.setHeader('Cache-Control', 'private, no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Referrer-Policy', 'no-referrer');
  next();
};

const unused = [
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'hid', 'magnetometer', 'microphone', 'midi'],
  ...['payment', 'serial', 'usb', 'xr-spatial-tracking'],
];
const unusedFeatures = unused.map((feature) => `${feature}=()`).join(', ');

/** The headers of a page, with its policy for contents: it uses no device, and pages of other sites neither hold nor embed it. */
export function protectPage(res: Response, contentPolicy: string): void {
  res.setHeader('Content-Security-Policy', contentPolicy);
  res.setHeader('Permissions-Policy', unusedFeatures);
  res.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
}

const allowedHeaders = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match', 'Last-Event-Id', 'Stream-Id', 'Traceparent', 'X-Request-Id'],
  // Those of MCP's clients.
  ...['Mcp-Method', 'Mcp-Name', 'Mcp-Protocol-Version'],
].join(', ');
const exposedHeaders = 'set-auth-token, WWW-Authenticate, ETag, Last-Event-Id, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id';
const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** Lets browsers of the trusted origins read responses, with credentials. Responds to preflights itself. */
export function cors(trustedOrigins: readonly string[]): RequestHandler {
  const trusted = new Set(trustedOrigins);
  return (req, res, next) => {
    const origin = req.get('origin');
    res.vary('Origin');
    if (origin !== undefined && trusted.has(origin)) {
      res.setHeader('Access-Control-Allow-Origin', origin);
      res.setHeader('Access-Control-Allow-Credentials', 'true');
      res.setHeader('Access-Control-Expose-Headers', exposedHeaders);
    }
    const preflight = req.method === 'OPTIONS' && origin !== undefined && req.get('access-control-request-method') !== undefined;
    if (!preflight) return next();
    if (trusted.has(origin)) {
      res.setHeader('Access-Control-Allow-Methods', allowedMethods);
      res.setHeader('Access-Control-Allow-Headers', allowedHeaders);
      res.setHeader('Access-Control-Max-Age', '600');
    }
    return void res.status(204).end();
  };
}

/**
 * Refuses a write that a browser sends with a cookie from an origin that is not trusted: another site must not act with the user's
 * cookie. Another site never sends bearer tokens, and a public operation reads no cookie. Expects the route to be identified.
 */
export function trustedOrigin(trustedOrigins: readonly string[]): RequestHandler {
  const trusted = new Set(trustedOrigins);
  return (req, res, next) => {
    const origin = req.get('origin');
    const writes = req.method !== 'GET' && req.method !== 'HEAD';
    const isPublic = routeOf(res)?.metadata.access === 'public';
    const byCookie = !isPublic && req.get('cookie') !== undefined && !hasBearer(req.headers);
    if (writes && byCookie && origin !== undefined && !trusted.has(origin)) {
      throw new ApiError('FORBIDDEN', { message: untrustedOrigin(origin) });
    }
    next();
  };
}
