import express, { type Express, type RequestHandler } from 'express';
import { authPath } from '../auth/mount.ts';
import { sessionCookieName } from '../auth/session-options.ts';
import { ApiError } from '../contract/api-error.ts';
import { hasDocument } from '../domain/documents/document.ts';
import type { LocalStorage } from '../storage/local.ts';
import type { ApiDeps } from './deps.ts';
import { docsRoutes } from './docs.ts';
import { identifyRoute } from './find-route.ts';
import { healthz, readyz } from './health.ts';
import { cors } from './middleware/cors.ts';
import { clientAddressOf, requestContext } from './middleware/request-context.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { trustedOrigin } from './middleware/trusted-origin.ts';
import { serveOpenApi } from './openapi.ts';
import { createProcedures } from './procedures/index.ts';
import { createRest, restErrors } from './rest.ts';
import { createRpc, rpcErrors } from './rpc.ts';
import { uploadRoutes } from './uploads.ts';

export interface AppOptions {
  /** better-auth's handler. */
  auth: RequestHandler;
  /** The local driver, whose upload routes the API serves; undefined with a bucket. */
  localStorage: LocalStorage | undefined;
}

/** The whole HTTP edge; listens to nothing. The order is the order in which a request meets its parts. */
export function createApp(deps: ApiDeps, { auth, localStorage }: AppOptions): Express {
  const { config } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.use(requestContext(config.trustProxy));
  app.get('/healthz', healthz);
  app.get('/readyz', readyz(deps.db));
  app.use(securityHeaders, cors(config.trustedOrigins));
  app.all(authPath, auth);
  if (localStorage) {
    const { maxUploadBytes } = config.storage;
    app.use(uploadRoutes({ storage: localStorage, hasDocument: (...ids) => hasDocument(deps.db, ...ids), maxUploadBytes }));
  }
  app.use(docsRoutes());
  const procedures = createProcedures(deps);
  const guard = [identifyRoute, limitRequests(deps), trustedOrigin([...config.trustedOrigins, new URL(config.apiUrl).origin])];
  app.use('/rpc', guard, createRpc(deps, procedures));
  app.use('/rpc', rpcErrors(deps));
  app.get('/api/v1/openapi.json', limitRequests(deps), serveOpenApi({ cookieName: sessionCookieName(config) }));
  app.use('/api/v1', guard, createRest(deps, procedures));
  app.use(() => {
    throw new ApiError('NOT_FOUND', { message: 'There is nothing at this path.' });
  });
  app.use(restErrors(deps));
  return app;
}

function limitRequests(deps: ApiDeps): RequestHandler {
  return async (_req, res, next) => {
    await deps.limiters.requests.consume(clientAddressOf(res), (name, value) => res.setHeader(name, value));
    next();
  };
}
