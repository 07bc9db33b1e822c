import type { RequestHandler } from 'express';

const allowedHeaders = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-Id, X-Request-Id';
const exposedHeaders = 'set-auth-token, ETag, Last-Event-Id, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id';
const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** Lets browsers of the trusted origins read answers, with credentials. Answers preflights itself. */
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
