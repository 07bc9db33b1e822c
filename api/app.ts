import express, { type Express, type RequestHandler } from 'express';
import type { LocalStorage } from '../adapters/storage/local.ts';
import { ApiError } from '../contract/api-error.ts';
import { contentTypes } from '../contract/content-types.ts';
import { findDeclaredBytes, storeDigest } from '../domain/documents/document.ts';
import { authPath } from './auth/mount.ts';
import { isAuthEndpoint } from './auth/operation-names.ts';
import { sessionCookieName } from './auth/session-options.ts';
import { chatRoutes } from './chat/mount.ts';
import type { ApiDeps } from './deps.ts';
import { boundBodies } from './http/body-time.ts';
import { cors, securityHeaders, trustedOrigin } from './http/browser-security.ts';
import { consoleAssets, consolePage } from './http/console.ts';
import { originalFrame } from './http/console-frame.ts';
import { wellFormed } from './http/create-server.ts';
import { docsRoutes, openApiDocument } from './http/docs.ts';
import { healthz, readyz } from './http/health.ts';
import { identifyRoute } from './http/identify-route.ts';
import { logRequests } from './http/log-requests.ts';
import { type ObserveRequest, observeRequests } from './http/observe-requests.ts';
import { requestContext } from './http/request.ts';
import { createRest, restErrors } from './http/rest.ts';
import { createRpc, rpcErrors } from './http/rpc.ts';
import { startPages } from './http/start-page.ts';
import { traceRequests } from './http/trace-requests.ts';
import { limitRequests } from './limits/limiters.ts';
import { dropSlowReaders } from './limits/slow-readers.ts';
import { mcpRoutes } from './mcp/mount.ts';
import { createProcedures } from './procedures/index.ts';
import { storageFullLine } from './uploads/admission.ts';
import type { UploadOptions } from './uploads/object-request.ts';
import { uploadRoutes } from './uploads/upload.ts';

interface AppOptions {
  /** better-auth's handler. */
  auth: RequestHandler;
  /** The local driver, whose upload routes the API serves; undefined with a bucket. */
  localStorage: LocalStorage | undefined;
  observeRequest?: ObserveRequest | undefined;
}

/** The HTTP edge as an application, with its parts in the order in which a request passes them. It does not listen. */
export function createApp(deps: ApiDeps, { auth, localStorage, observeRequest }: AppOptions): Express {
  const { config, limiters } = deps;
  const app = createExpress();
  app.use(requestContext(config.trustProxy));
  app.use(traceRequests);
  app.use(logRequests(deps.log));
  if (observeRequest) app.use(observeRequests(observeRequest));

  app.use(dropSlowReaders());

  app.use(wellFormed);
  app.get('/healthz', healthz);
  app.get('/readyz', readyz(deps.sessionsDb, deps.readiness, deps.log));
  const leastRate = { bytesPerSecond: config.uploads.minBytesPerSecond, windowMs: config.bodyWindowMs };
  app.use(boundBodies(leastRate));

  app.use(securityHeaders, cors(config.trustedOrigins));
  const limited = limitRequests(limiters, deps.authentication);
  // better-auth counts each path by itself: if every request can have another path, only this counts them.
  app.all(authPath, (req, res, next) => (isAuthEndpoint(req.path) ? next() : limited(req, res, next)), auth);
  // Without this Express would list a path's methods; `cors` has already responded to preflights. A pattern instead of a named parameter,
  // which Express would decode first.
  app.options(/.*/, nothingHere);
  // `/uploads/{organizationId}/{documentId}`. With a bucket, bytes go to the bucket and not through the API.
  if (localStorage) app.use(uploadRoutes(uploadOptions(deps, localStorage)));
  app.use(docsRoutes(), config.console.enabled ? consoleFiles(config) : startPages(config));

  const procedures = createProcedures(deps);
  const guard = [identifyRoute, limited, trustedOrigin([...config.trustedOrigins, new URL(config.apiUrl).origin])];
  app.use('/rpc', guard, createRpc(deps, procedures));
  app.get('/api/v1/openapi.json', limited, openApiDocument({ cookieName: sessionCookieName(config), extra: config.extraContentTypes }));
  app.use('/api/v1', chatRoutes(deps, procedures));
  app.use('/api/v1', guard, createRest(deps, procedures));
  app.use(mcpRoutes(deps, procedures));
  if (config.console.enabled) app.use(consolePage({ ...config, ...config.console, storage: deps.storage }));

  app.use(nothingHere);
  app.use('/rpc', rpcErrors(deps));
  app.use(restErrors(deps));
  return app;
}

function uploadOptions({ config, db, log }: ApiDeps, storage: LocalStorage): UploadOptions {
  return {
    storage,
    findDeclaredBytes: (organizationId, documentId) => findDeclaredBytes(db, organizationId, documentId),
    storeDigest: (...stored) => storeDigest(db, ...stored),
    maxUploadBytes: config.storage.maxUploadBytes,
    contentTypes: [...contentTypes, ...config.extraContentTypes],
    limits: config.uploads,
    onStorageFull: (err) => log.error({ err }, storageFullLine),
  };
}

function consoleFiles({ console: { directory }, apiUrl }: ApiDeps['config']): RequestHandler[] {
  return [consoleAssets(directory), originalFrame({ directory, apiUrl })];
}

function createExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  return app;
}

const nothingHere: RequestHandler = () => {
  throw new ApiError('NOT_FOUND', { message: 'There is nothing at this path.' });
};
