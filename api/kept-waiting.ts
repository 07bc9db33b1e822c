import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { whenClientLeaves } from '../concurrency/client-left.ts';

/** How long a client waits, and how many at once. */
const waitMs = 1_000;
const mostWaiting = 1_000;

/**
 * Clients that are told later that they are refused: those that come back at once would otherwise do so hundreds of times a second. Nothing is
 * read or held for them but their connection.
 */
export class KeptWaiting {
  #waiting = 0;

  /** Waits a second; shorter if the client leaves, and not at all while too many wait. */
  async keep(res: Response): Promise<void> {
    if (this.#waiting >= mostWaiting) return;
    this.#waiting++;
    await sleep(waitMs, undefined, { signal: whenClientLeaves(res), ref: false }).catch(() => {});
    this.#waiting--;
  }
}
