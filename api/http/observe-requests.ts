import type { RequestHandler, Response } from 'express';
import { authOperationOf } from '../../auth/operation-names.ts';
import { routeOf } from './identify-route.ts';

/** Is told of each request when its response is complete, or its client has left. */
export type ObserveRequest = (request: { operation: string; status: number | 'aborted'; seconds: number | undefined }) => void;

/** Tells `observe` of every request, by the operation that it is for. */
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

/** What serves paths that are no operation of the contract. */
const others = [
  { prefix: '/uploads', name: 'uploads' },
  { prefix: '/docs', name: 'docs' },
  { prefix: '/api/v1/openapi.json', name: 'docs' },
  { prefix: '/healthz', name: 'health' },
  { prefix: '/readyz', name: 'health' },
];

/** The operation of the contract that a request is for, or what else serves its path; `none` if nothing does. */
export function operationOf(url: string, res: Response): string {
  const operation = routeOf(res)?.metadata.operation;
  if (operation) return operation;
  const [path = ''] = url.split('?');
  return authOperationOf(path) ?? others.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))?.name ?? 'none';
}
