import { FairQueue } from './fair-queue.ts';
import type { Release } from './semaphore.ts';

/**
 * Has at most `limit` holders at once. If there are more, those who asked under different keys take turns, so that one who asks often
 * does not make the others wait for all of it.
 */
export class FairSemaphore {
  readonly #limit: number;
  readonly #queue = new FairQueue();
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Waits until there are fewer than `limit` holders; undefined after `patienceMs`. */
  async acquireWithin(key: string, patienceMs: number): Promise<Release | undefined> {
    if (this.#held < this.#limit) this.#held++;
    else if (!(await this.#wait(key, patienceMs))) return undefined;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      // Passed on while it still counts as held, so that a caller who asks now does not come first.
      if (!this.#queue.resolveNext()) this.#held--;
    };
  }

  async #wait(key: string, patienceMs: number): Promise<boolean> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), patienceMs);
    try {
      await this.#queue.wait(key, patience.signal);
      return true;
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  }
}
