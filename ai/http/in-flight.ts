import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairSemaphore } from '../../base/concurrency/fair-semaphore.ts';
import type { Release } from '../../base/concurrency/semaphore.ts';
import { whenClientLeaves } from '../../base/concurrency/when-client-leaves.ts';
import { inSpan } from '../../base/telemetry/spans.ts';
import { ServiceError } from '../service-error.ts';
import { currentTenant } from '../tenant.ts';

/**
 * Bounds how many uploads are held in memory at once. The body of one that waits has not been read yet: TCP back pressure holds its
 * bytes at the sender. Tenants get their turns.
 */
export class Bulkhead {
  readonly #semaphore: FairSemaphore;
  readonly #maxWaiting: number;

  /** `maxWaiting` of one tenant may wait, and four times as many of all. */
  constructor(limit: number, maxWaiting: number) {
    this.#semaphore = new FairSemaphore(limit);
    this.#maxWaiting = maxWaiting;
  }

  get #isFull(): boolean {
    return this.#semaphore.isFull(currentTenant());
  }

  /** Runs `work` when it may. Throws ServiceError 503 `busy` if too many wait, or the signal's reason. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#semaphore.isCrowded(currentTenant(), this.#maxWaiting)) {
      throw new ServiceError(503, 'busy', 'Too many documents are being read just now.', { retryAfterSeconds: 2 });
    }
    const release = await this.#acquire(signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** A wait is a span of the request's trace. */
  async #acquire(signal: AbortSignal): Promise<Release> {
    if (!this.#isFull) return await this.#semaphore.acquire(currentTenant(), signal);
    return await inSpan('wait for other documents', {}, () => this.#semaphore.acquire(currentTenant(), signal));
  }
}

/** Aborts when the caller leaves before the response is complete, so that no work is done for nobody. */
export function requestSignal(response: ServerResponse): AbortSignal {
  return whenClientLeaves(response, new Error('The caller went away.'));
}

/**
 * Watches a server and returns the function that stops it: it accepts no new connections, lets the requests in flight finish, and
 * closes every connection after `graceMs` at the latest.
 */
export function drainOnStop(server: Server): (graceMs: number) => Promise<void> {
  const inFlight = new Set<ServerResponse>();
  let stopping = false;
  // A keep-alive connection would keep the server open, so its last response closes it.
  const closeAfter = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  server.prependListener('request', (_request, response) => {
    inFlight.add(response);
    response.once('close', () => inFlight.delete(response));
    if (stopping) closeAfter(response);
  });
  return async (graceMs) => {
    stopping = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const response of inFlight) closeAfter(response);
    await Promise.race([closed, sleep(graceMs)]);
    server.closeAllConnections();
  };
}
