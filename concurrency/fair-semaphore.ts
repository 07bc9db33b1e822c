import { FairQueue } from './fair-queue.ts';

/** Gives back what was acquired. A second call does nothing. */
export type Release = () => void;

/** The semaphore is closed: nobody acquires it any more. */
export class SemaphoreClosed extends Error {
  constructor() {
    super('The semaphore is closed.');
    this.name = 'SemaphoreClosed';
  }
}

/**
 * Has at most `limit` holders at once. If there are more, those who asked under different keys take turns, so that one who asks often
 * does not make the others wait for all of it. With a `reserve`, so many more may hold it whose key has no holder yet: they do not wait
 * for one key that holds all the rest.
 */
export class FairSemaphore {
  readonly limit: number;
  readonly #reserve: number;
  readonly #queue = new FairQueue();
  /** How many holders a key has, if any. */
  readonly #holders = new Map<string, number>();
  #held = 0;
  #closed = false;

  constructor(limit: number, { reserve = 0 }: { reserve?: number } = {}) {
    this.limit = limit;
    this.#reserve = reserve;
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Whether the next caller of the key would not wait. */
  hasRoom(key: string): boolean {
    return this.#held < this.limit || (this.#held < this.limit + this.#reserve && !this.isHeldBy(key));
  }

  isHeldBy(key: string): boolean {
    return this.#holders.has(key);
  }

  /** Waits until there is room. Rejects with the signal's reason, or {@link SemaphoreClosed}. */
  async acquire(key: string, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    if (this.#closed) throw new SemaphoreClosed();
    // Whoever waits has no room: it is passed on at each release.
    if (this.hasRoom(key)) this.#take(key);
    else await this.#queue.wait(key, signal);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#giveBack(key);
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

  #take(key: string): void {
    this.#held++;
    this.#holders.set(key, (this.#holders.get(key) ?? 0) + 1);
  }

  /** Passes it on at once, so that a caller who asks now does not come first. */
  #giveBack(key: string): void {
    this.#held--;
    const left = (this.#holders.get(key) ?? 0) - 1;
    if (left > 0) this.#holders.set(key, left);
    else this.#holders.delete(key);
    const serve = () => this.#queue.resolveNext(undefined, (waiting) => this.hasRoom(waiting));
    for (let served = serve(); served !== undefined; served = serve()) this.#take(served);
  }
}
