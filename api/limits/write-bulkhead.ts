import type { Release } from '../../concurrency/semaphore.ts';
import { Turns } from '../../concurrency/turns.ts';
import { TurnsTaken } from './turns-taken.ts';

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
const maxWaiting = 100;
/** How long they wait: without a connection, so that only they wait. */
const patienceMs = 10_000;

/** Makes the bulkhead for a pool of so many connections. */
export function createWriteBulkhead(connections: number): WriteBulkhead {
  const turns = new Turns({ limit: Math.max(1, Math.floor(connections * share)), maxWaiting });
  return {
    async enter(key, signal) {
      const release = await turns.acquireWithin(key, patienceMs, signal);
      if (!release) throw new TurnsTaken({ message: 'Too many changes are under way: try again in a moment.', retryAfterSeconds: 2 });
      return release;
    },
  };
}
