import type { RequestHandler } from 'express';

/** Called for each request when its response is complete, or its caller has left. */
export type ObserveRequest = (request: { operation: string; status: number | 'aborted'; seconds: number }) => void;

/** What the service does, each by a POST to `/v1/<name>`. Metrics have these names; the compiler asks for a route and a description of each. */
export const operations = ['extract', 'summarize', 'embed', 'answer', 'fields', 'rerank'] as const;
export type Operation = (typeof operations)[number];

/** The operation of a path; `other` if there is none. */
export function operationOf(path: string): string {
  if (path === '/health') return 'health';
  return operations.find((name) => path === `/v1/${name}`) ?? 'other';
}

/** Reports every request to `observe`, by its operation, never by its path. */
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
