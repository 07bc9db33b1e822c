import type { RequestHandler, Response } from 'express';
import { authOperationOf } from '../auth/operation-names.ts';
import { routeOf } from './identify-route.ts';

/** Called for each request when its response is complete, or its client has left. */
export type ObserveRequest = (request: { operation: string; status: number | 'aborted'; seconds: number | undefined }) => void;

/** Reports every request to `observe`, by its operation. */
export function observeRequests(observe: ObserveRequest): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => {
      const stream = routeOf(res)?.metadata.stream;
      observe({
        operation: operationOf(req.originalUrl, res),
        status: res.writableFinished ? res.statusCode : 'aborted',
        seconds: stream ? undefined : (performance.now() - startedAt) / 1_000,
      });
    });
    next();
  };
}

/** Names for paths that are no operation of the contract. */
const others = [
  { prefix: '/uploads', name: 'uploads' },
  { prefix: '/mcp', name: 'mcp' },
  { prefix: '/.well-known/oauth-protected-resource', name: 'mcp' },
  { prefix: '/docs', name: 'docs' },
  { prefix: '/api/v1/openapi.json', name: 'docs' },
  { prefix: '/healthz', name: 'health' },
  { prefix: '/readyz', name: 'health' },
];

/** The operation of the contract that a request is for, or the name of another served path; `none` if nothing serves it. */
export function operationOf(url: string, res: Response): string {
  const operation = routeOf(res)?.metadata.operation;
  if (operation) return operation;
  const [path = ''] = url.split('?');
  return authOperationOf(path) ?? others.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))?.name ?? 'none';
}
