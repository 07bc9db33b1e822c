import type { Release } from '../../concurrency/fair-semaphore.ts';
import type { Neighbours } from '../../concurrency/neighbours.ts';
import { Turns } from '../../concurrency/turns.ts';
import { TurnsTaken } from './turns-taken.ts';

export interface WriteBulkheadOptions {
  /** The connections of the pool that writes use. */
  connections: number;
  /** What part of the time the writes of one organization may take together while others are served, above 0; 1 is as much as they like. */
  share: number;
  neighbours: Neighbours;
}

/** The part of the connections that the writes of one organization may hold. */
const connectionsShare = 0.3;
/** How many more may wait for their turn. */
const maxWaiting = 100;
/** How long they wait: without a connection, so that only they wait. */
const patienceMs = 10_000;
/** A write that waited long for a lock or another service kept nothing busy. */
const longestRestMs = 1_000;

/**
 * Keeps the writes of one organization from taking every connection while they wait for each other, and from keeping the processors busy
 * while this process serves others (docs/decisions/limits.md). Up to as many as there are turns go on at once and without a rest.
 */
export class WriteBulkhead {
  readonly #limit: number;
  readonly #share: number;
  readonly #neighbours: Neighbours;
  readonly #turns: Turns;

  constructor({ connections, share, neighbours }: WriteBulkheadOptions) {
    this.#limit = Math.max(1, Math.floor(connections * connectionsShare));
    this.#share = share;
    this.#neighbours = neighbours;
    this.#turns = new Turns({ limit: this.#limit, maxWaiting });
  }

  /**
   * Waits for a turn among the writes of `key`: an organization, or a user whose organization is not known yet. Throws
   * SERVICE_UNAVAILABLE if too many wait already, or after some seconds; the signal's reason if it aborts. A write whose cost is 3 counts
   * as three.
   */
  async enter(key: string, signal: AbortSignal, cost = 1): Promise<Release> {
    const release = await this.#turns.acquireWithin(key, patienceMs, signal);
    if (!release) throw new TurnsTaken({ message: 'Too many changes are under way: try again in a moment.', retryAfterSeconds: 2 });
    const startedAt = performance.now();
    return () => {
      if (this.#mustRest(key)) setTimeout(release, this.#restMs(cost * (performance.now() - startedAt))).unref();
      else release();
    };
  }

  /** Whether more writes come than there are turns, in a process that others need, too. */
  #mustRest(key: string): boolean {
    return this.#share < 1 && this.#turns.isWaitedFor(key) && this.#neighbours.hasOthers(key);
  }

  /** The rest of one turn, so that all turns together take their share of the time. */
  #restMs(workedMs: number): number {
    return Math.min(workedMs * (this.#limit / this.#share - 1), longestRestMs);
  }
}
