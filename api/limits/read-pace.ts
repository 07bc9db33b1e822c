import type { Neighbours } from '../../concurrency/neighbours.ts';
import { pause } from '../../concurrency/pause.ts';
import type { LoopLoad } from './loop-load.ts';
import { TurnsTaken } from './turns-taken.ts';

export interface ReadPaceOptions {
  /** What part of the thread's time the reads of one organization may take while others are served, above 0; 1 is as much as they like. */
  share: number;
  neighbours: Pick<Neighbours, 'hasOthers'>;
  load: Pick<LoopLoad, 'isBusy' | 'msPerRequest'>;
}

/** How far ahead of its share an organization may be before its reads wait: a page of a browser sends some at once. */
const aheadMs = 100;
/** How much of what it read without a wait counts against it. */
const mostOwedMs = 1_000;
/** What a read counts at most: other work, such as searches and uploads, may be what keeps the thread busy. */
const mostMsPerRead = 2.5;
/** As how many reads a page of rows counts: of a few it takes twice as long as one row, of a hundred four times. */
export const costOfPage = 2;
/** The same of a read of better-auth, which looks up the session by itself. With three, others waited (docs/decisions/limits.md). */
export const costOfAuthRead = 6;
/** How long a read waits at most. */
const patienceMs = 5_000;
/** After so many organizations those that owe nothing are forgotten. */
const mostOrganizations = 1_000;

interface Pace {
  /** The moment at which what was read is within the share. */
  evenAt: number;
  /** Whether reads wait, until then. */
  isSpaced: boolean;
}

/**
 * Spaces the reads of one organization once they keep the thread of this process busy and it serves others, so that together they take their
 * share of its time (docs/decisions/limits.md). How much time a read takes is the average of all requests of the last moment, within a bound.
 */
export class ReadPace {
  readonly #options: ReadPaceOptions;
  readonly #paces = new Map<string, Pace>();

  constructor(options: ReadPaceOptions) {
    this.#options = options;
  }

  /**
   * Waits until the organization may read. Throws SERVICE_UNAVAILABLE if that would take too long, and the signal's reason if the client
   * leaves meanwhile. A read whose cost is 2 counts as two.
   */
  async enter(organizationId: string, signal: AbortSignal, cost = 1): Promise<void> {
    const { share, neighbours } = this.#options;
    if (share === 1 || !neighbours.hasOthers(organizationId)) return;
    const waitMs = this.#take(organizationId, cost);
    if (waitMs <= 0) return;
    await pause(waitMs, signal);
    signal.throwIfAborted();
  }

  /** Counts a read. Returns how long it has to wait, in milliseconds. */
  #take(organizationId: string, cost: number): number {
    const { share, load } = this.#options;
    const now = performance.now();
    const pace = this.#paces.get(organizationId);
    const isOwing = pace !== undefined && pace.evenAt > now;
    const owedMs = isOwing ? pace.evenAt - now : 0;
    const isSpaced = (isOwing && pace.isSpaced) || (load.isBusy && owedMs > aheadMs);
    const waitMs = isSpaced ? owedMs - aheadMs : 0;
    if (waitMs > patienceMs)
      throw new TurnsTaken({
        message: 'Too many requests of this organization are under way: try again in a moment.',
        retryAfterSeconds: 2,
      });
    const nextMs = owedMs + (cost * Math.min(load.msPerRequest, mostMsPerRead)) / share;
    this.#forgetOthers(now);
    this.#paces.set(organizationId, { evenAt: now + (isSpaced ? nextMs : Math.min(nextMs, mostOwedMs)), isSpaced });
    return waitMs;
  }

  #forgetOthers(now: number): void {
    if (this.#paces.size >= mostOrganizations) for (const [other, { evenAt }] of this.#paces) if (evenAt <= now) this.#paces.delete(other);
  }
}
