import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { whenClientLeaves } from '../../concurrency/when-client-leaves.ts';

/** How long a client waits: a random time of a second on average, so that clients that came together do not come back together. */
const shortestWaitMs = 500;
const longestWaitMs = 1_500;
/** How many wait at once. */
const mostWaiting = 1_000;

/**
 * Delays the refusal of clients that would otherwise come back at once, hundreds of times a second. Nothing is read or held for them except
 * their connection.
 */
export class KeptWaiting {
  #waiting = 0;

  /** Waits about a second; shorter if the client leaves, and not at all while too many wait. */
  async keep(res: Response): Promise<void> {
    if (this.#waiting >= mostWaiting) return;
    this.#waiting++;
    const waitMs = shortestWaitMs + Math.random() * (longestWaitMs - shortestWaitMs);
    await sleep(waitMs, undefined, { signal: whenClientLeaves(res), ref: false }).catch(() => {});
    this.#waiting--;
  }
}
