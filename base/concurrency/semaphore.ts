import { WaitQueue } from './wait-queue.ts';

/** Gives back what was acquired. A second call does nothing. */
export type Release = () => void;

/** The semaphore is closed: nobody acquires it any more. */
export class SemaphoreClosed extends Error {
  constructor() {
    super('The semaphore is closed.');
    this.name = 'SemaphoreClosed';
  }
}

/** Has at most `limit` holders at once. Callers acquire it in the order in which they asked. */
export class Semaphore {
  readonly limit: number;
  readonly #queue = new WaitQueue();
  #held = 0;
  #isClosed = false;

  constructor(limit: number) {
    this.limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Waits until there are fewer than `limit` holders. Rejects with the signal's reason, or {@link SemaphoreClosed}. */
  async acquire(signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new SemaphoreClosed();
    if (this.#held < this.limit) this.#held++;
    else await this.#queue.wait(signal);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      // Passed on at once, so that a caller who asks now does not come first.
      if (!this.#queue.resolveNext()) this.#held--;
    };
  }

  /** As {@link acquire}, but undefined after `patienceMs`. */
  async acquireWithin(patienceMs: number, signal: AbortSignal): Promise<Release | undefined> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), patienceMs);
    try {
      return await this.acquire(AbortSignal.any([signal, patience.signal]));
    } catch (error) {
      if (patience.signal.aborted && !signal.aborted) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Rejects all who wait, and all who ask from now on, with {@link SemaphoreClosed}. Holders stay until they release. */
  close(): void {
    this.#isClosed = true;
    this.#queue.rejectAll(new SemaphoreClosed());
  }

  /** Does `work` as a holder. Rejects as {@link acquire} and as the work does. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(signal);
    try {
      return await work();
    } finally {
      release();
    }
  }
}
