import type { Neighbours } from '../concurrency/neighbours.ts';
import type { Release } from '../concurrency/semaphore.ts';
import { Turns } from '../concurrency/turns.ts';
import { TurnsTaken } from './turns-taken.ts';

export interface SearchTurnsOptions {
  /** How many searches of one organization run at once in this process. */
  perOrganization: number;
  /** What part of the time an organization may search while others are served, above 0; 1 is as much as it likes. */
  share: number;
  /** How long a search waits for its turn. */
  waitMs: number;
  neighbours: Neighbours;
}

/** How many searches of one organization wait for their turn: any more are refused at once. */
const mostWaiting = 50;
const retryAfterSeconds = 2;
/** A single search that took very long does not hold up the next ones for minutes. */
const longestRestMs = 2_000;

/**
 * The turns of each organization's searches. While this process serves others as well, an organization's chunks are looked through by one search
 * after another, with a rest after each, so that together they take a share of the time (docs/decisions/limits.md).
 */
export class SearchTurns {
  readonly #options: SearchTurnsOptions;
  readonly #turns: Turns;
  readonly #oneByOne: Turns;

  constructor(options: SearchTurnsOptions) {
    this.#options = options;
    this.#turns = new Turns({ limit: options.perOrganization, maxWaiting: mostWaiting });
    this.#oneByOne = new Turns({ limit: 1, maxWaiting: options.perOrganization });
  }

  /** Waits for a turn. Throws {@link TurnsTaken} if too many wait already, or after `waitMs`; rejects with the signal's reason. */
  async take(organizationId: string, signal: AbortSignal): Promise<Release> {
    return (await this.#turns.acquireWithin(organizationId, this.#options.waitMs, signal)) ?? this.#refuse(organizationId);
  }

  /** Does what keeps the database and this thread busy, in a turn that was taken. Throws as {@link take} does. */
  async share<T>(organizationId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { share, waitMs, neighbours } = this.#options;
    if (share === 1 || !neighbours.hasOthers(organizationId)) return await work();
    const release = (await this.#oneByOne.acquireWithin(organizationId, waitMs, signal)) ?? this.#refuse(organizationId);
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      const restMs = (performance.now() - startedAt) * (1 / share - 1);
      setTimeout(release, Math.min(restMs, longestRestMs)).unref();
    }
  }

  #refuse(organizationId: string): never {
    const stands = () => this.#turns.isFull(organizationId);
    throw new TurnsTaken({ message: 'Too many searches of this organization are running.', retryAfterSeconds, stands });
  }
}
