import type { Release } from '../../concurrency/fair-semaphore.ts';
import type { Neighbours } from '../../concurrency/neighbours.ts';
import { pause } from '../../concurrency/pause.ts';
import { Turns } from '../../concurrency/turns.ts';
import type { Rest } from '../../domain/scan-pace.ts';
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
/** A rest that a timer can keep. */
const shortestRestMs = 1;

/**
 * The turns of each organization's searches. While this process serves others as well, an organization's chunks are looked through by one search
 * after another, with rests, so that together they take a share of the time (docs/decisions/limits.md). The first works without a pause, and
 * rests when it has ended; one that had to wait for another rests after each of its steps, so that nobody meets it at work for long.
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
  async share<T>(organizationId: string, signal: AbortSignal, work: (rest: Rest) => Promise<T>): Promise<T> {
    const { share, waitMs, neighbours } = this.#options;
    if (share === 1 || !neighbours.hasOthers(organizationId)) return await work(noRest);
    const mustWait = this.#oneByOne.isTaken(organizationId);
    const release = (await this.#oneByOne.acquireWithin(organizationId, waitMs, signal)) ?? this.#refuse(organizationId);
    const rests = new Rests(share);
    try {
      return await work(mustWait ? () => rests.take(signal) : noRest);
    } finally {
      setTimeout(release, rests.owedMs).unref();
    }
  }

  #refuse(organizationId: string): never {
    const stands = () => this.#turns.isFull(organizationId);
    throw new TurnsTaken({ message: 'Too many searches of this organization are running.', retryAfterSeconds, stands });
  }
}

async function noRest(): Promise<void> {}

/** The rests that work owes, so that with them it takes a share of the time. */
class Rests {
  readonly #share: number;
  readonly #startedAt = performance.now();
  #takenMs = 0;

  constructor(share: number) {
    this.#share = share;
  }

  get owedMs(): number {
    const workedMs = performance.now() - this.#startedAt - this.#takenMs;
    return Math.max(0, Math.min(workedMs * (1 / this.#share - 1), longestRestMs) - this.#takenMs);
  }

  /** Rests for what is owed, or until the signal aborts. */
  async take(signal: AbortSignal): Promise<void> {
    const restMs = this.owedMs;
    if (restMs < shortestRestMs) return;
    const startedAt = performance.now();
    await pause(restMs, signal);
    this.#takenMs += performance.now() - startedAt;
  }
}
