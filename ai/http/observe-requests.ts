import type { RequestHandler } from 'express';
import { aiService } from '../../contract/ai-service/index.ts';

/** Called for each request when its response is complete, or its caller has left. */
export type ObserveRequest = (request: { operation: string; status: number | 'aborted'; seconds: number }) => void;

const operations = new Map<string, string>(Object.entries(aiService).map(([name, { path }]) => [path, name]));

/** The operation of a path; `other` if there is none. */
export function operationOf(path: string): string {
  return operations.get(path) ?? 'other';
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
