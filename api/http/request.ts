import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { networkOf } from '../../auth/client-network.ts';
import { routes } from '../../contract/index.ts';
import { JsonDepth, maxJsonDepth } from '../../contract/json-depth.ts';
import type { AnyRoute } from '../../contract/route.ts';
import type { RequestInfo } from '../procedure.ts';
import { malformed } from './errors.ts';

/** The largest body of `/api/v1/*` and `/rpc/*`, in bytes. */
const maxBodyBytes = 1024 * 1024;

const wellFormedId = /^[A-Za-z0-9._-]{1,128}$/;

/** Gives each request its id, the client's own if it is well-formed, and the address that it came from. */
export function requestContext(trustProxy: boolean): RequestHandler {
  return (req, res, next) => {
    const given = req.get('x-request-id');
    const requestId = given !== undefined && wellFormedId.test(given) ? given : randomUUID();
    res.locals.requestId = requestId;
    res.locals.clientAddress = readClientAddress(req, trustProxy);
    res.setHeader('X-Request-Id', requestId);
    next();
  };
}

export function requestIdOf(res: Response): string {
  return String(res.locals.requestId);
}

/** The organization that the request was authorized in; undefined if it was in none. */
export function organizationOf(res: Response): string | undefined {
  return res.locals.organizationId as string | undefined;
}

export function clientAddressOf(res: Response): string {
  return String(res.locals.clientAddress);
}

/**
 * What limits count the client by: see {@link networkOf}. Behind a trusted proxy it is the only address of `X-Forwarded-For`. A header with several addresses was
 * written by the client in part, and is ignored.
 */
function readClientAddress(req: IncomingMessage, trustProxy: boolean): string {
  const forwarded = req.headers['x-forwarded-for'];
  if (trustProxy && typeof forwarded === 'string' && isIP(forwarded.trim())) return networkOf(forwarded.trim());
  return networkOf(req.socket.remoteAddress ?? 'unknown');
}

const restRoutes = routes.map((route) => ({ route, path: new RegExp(`^/api/v1${route.path.replaceAll(/:\w+/g, '[^/]+')}$`) }));
const rpcRoutes = new Map(routes.map((route) => [`/rpc/${route.metadata.operation.replaceAll('.', '/')}`, route]));

/**
 * Notes the route of a request before anything can refuse it: whether an error is `defined` depends on the operation, also if the
 * request never reaches it.
 */
export const identifyRoute: RequestHandler = (req, res, next) => {
  const [path = ''] = req.originalUrl.split('?');
  res.locals.route = path.startsWith('/rpc/') ? findRpcRoute(req.method, path) : findRestRoute(req.method, path);
  next();
};

/** The route that {@link identifyRoute} noted; undefined if the contract has nothing at the path. */
export function routeOf(res: Response): AnyRoute | undefined {
  return res.locals.route as AnyRoute | undefined;
}

function findRestRoute(method: string, path: string): AnyRoute | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method;
  return restRoutes.find(({ route, path: pattern }) => route.method === wanted && pattern.test(path))?.route;
}

function findRpcRoute(method: string, path: string): AnyRoute | undefined {
  return method === 'POST' ? rpcRoutes.get(path) : undefined;
}

const jsonTypes = ['application/json', 'application/*+json'];

/**
 * Parses a JSON body of at most 1 MiB. A body that does not say that it is JSON is BAD_REQUEST: if it were ignored, the request would
 * succeed without doing what it asked for. An empty body needs no type.
 */
export function jsonBody(): RequestHandler {
  return express.json({
    limit: maxBodyBytes,
    type: () => true,
    // Only here is it known whether a chunked body is empty.
    verify: (req, _res, body) => {
      if (new JsonDepth().read(body).tooDeep) throw malformed(['body'], `The body is nested deeper than ${maxJsonDepth} levels.`);
      if (body.length > 0 && !(req as Request).is(jsonTypes)) {
        throw malformed(['Content-Type'], 'The body must be JSON, and the request must say so: send `Content-Type: application/json`.');
      }
    },
  });
}

/** The request as procedures see it. */
export function requestInfo(req: Request, res: Response): RequestInfo {
  return {
    requestId: requestIdOf(res),
    clientAddress: clientAddressOf(res),
    idempotencyKey: req.get('idempotency-key'),
    lastEventId: req.get('last-event-id'),
    signal: closeSignal(res),
    hangUp: () => res.destroy(),
    noteOrganization: (organizationId) => {
      res.locals.organizationId = organizationId;
    },
    onClose: (callback) => void (res.closed ? callback() : res.once('close', callback)),
    onDrained: (callback) => onDrained(res, callback),
    setHeader: (name, value) => res.setHeader(name, value),
  };
}

/** An event of less than what a connection buffers is not waited for. */
function onDrained(res: Response, callback: () => void): void {
  if (res.closed || !res.writableNeedDrain) {
    callback();
    return;
  }
  const done = () => {
    res.off('drain', done);
    res.off('close', done);
    callback();
  };
  res.once('drain', done);
  res.once('close', done);
}

function closeSignal(res: Response): AbortSignal {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  // The client may have left already.
  if (res.closed) controller.abort();
  return controller.signal;
}
