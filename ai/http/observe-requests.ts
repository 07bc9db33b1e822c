import type { RequestHandler } from 'express';

/** Is told of each request when its response is complete, or its caller has left. */
export type ObserveRequest = (request: { operation: string; status: number | 'aborted'; seconds: number }) => void;

const operations: Record<string, string> = {
  '/v1/extract': 'extract',
  '/v1/summarize': 'summarize',
  '/v1/embed': 'embed',
  '/health': 'health',
};

/** What a path asks for; `other` if there is no such path. */
export function operationOf(path: string): string {
  return (Object.hasOwn(operations, path) && operations[path]) || 'other';
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
