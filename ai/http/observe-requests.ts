import type { RequestHandler } from 'express';

/** Is told of each request when its response is complete, or its caller has left. */
export type ObserveRequest = (request: { operation: string; status: number | 'aborted'; seconds: number }) => void;

/** What the service does, each by a POST to `/v1/<name>`. Metrics have these names; the compiler asks for a route and a description of each. */
export const operations = ['extract', 'summarize', 'embed'] as const;
export type Operation = (typeof operations)[number];

/** What a path asks for; `other` if there is no such path. */
export function operationOf(path: string): string {
  if (path === '/health') return 'health';
  return operations.find((name) => path === `/v1/${name}`) ?? 'other';
}

/** Tells `observe` of every request, by its operation; never by its path. */
export function observeRequests(observe: ObserveRequest): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    const operation = operationOf(request.path);
    response.once('close', () => {
      const status = response.writableFinished ? response.statusCode : 'aborted';
      observe({ operation, status, seconds: (performance.now() - startedAt) / 1_000 });
    });
    next();
  };
}
