import { type Release, Semaphore } from '../concurrency/semaphore.ts';
import { ApiError } from '../contract/api-error.ts';

/** Keeps the writes of one organization from taking every connection while they wait for each other. */
export interface WriteBulkhead {
  /**
   * Waits for a turn among the writes of `key`: an organization, or a user whose organization is not known yet. Throws
   * SERVICE_UNAVAILABLE if too many wait already, or after some seconds; the signal's reason if it aborts.
   */
  enter(key: string, signal: AbortSignal): Promise<Release>;
}

/** The part of the connections that the writes of one organization may hold. */
const share = 0.3;
/** How many more may wait for their turn. */
const mostWaiting = 100;
/** About as long as a lock is waited for. */
const patienceMs = 3_000;

/** Makes the bulkhead for a pool of so many connections. */
export function createWriteBulkhead(connections: number): WriteBulkhead {
  const most = Math.max(1, Math.floor(connections * share));
  const semaphores = new Map<string, Semaphore>();
  return {
    async enter(key, signal) {
      const semaphore = semaphores.get(key) ?? new Semaphore(most);
      semaphores.set(key, semaphore);
      if (semaphore.waiting >= mostWaiting) throw busy();
      const release = await semaphore.acquireWithin(patienceMs, signal);
      if (!release) throw busy();
      return () => {
        release();
        if (semaphore.held === 0) semaphores.delete(key);
      };
    },
  };
}

function busy(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many changes are under way: try again in a moment.', retryAfterSeconds: 2 });
}
