import { FairQueue } from './fair-queue.ts';
import { type Release, SemaphoreClosed } from './semaphore.ts';

/**
 * Has at most `limit` holders at once. Those who wait are served key by key, so that one who asks often does not make the others wait for
 * all of it.
 */
export class FairSemaphore {
  readonly limit: number;
  readonly #queue = new FairQueue();
  #held = 0;
  #closed = false;

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
  async acquire(key: string, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    if (this.#closed) throw new SemaphoreClosed();
    // Whoever waits gets what a holder gives back, so that a caller who asks at that moment does not come first.
    if (this.#held < this.limit) this.#held++;
    else await this.#queue.wait(key, signal);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      if (this.#queue.resolveNext() === undefined) this.#held--;
    };
  }

  /** As {@link acquire}, but undefined after `patienceMs`, or if the semaphore is closed. */
  async acquireWithin(key: string, patienceMs: number, signal?: AbortSignal): Promise<Release | undefined> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), patienceMs);
    try {
      return await this.acquire(key, signal ? AbortSignal.any([signal, patience.signal]) : patience.signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (patience.signal.aborted || error instanceof SemaphoreClosed) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Does `work` as a holder. Rejects as {@link acquire} and as the work does. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(key, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Rejects all who wait, and all who ask from now on. Holders stay until they release. */
  close(): void {
    this.#closed = true;
    this.#queue.rejectAll(new SemaphoreClosed());
  }
}
