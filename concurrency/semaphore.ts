import { WaitQueue } from './wait-queue.ts';

/** Gives back what was acquired. A second call does nothing. */
export type Release = () => void;

/** The semaphore was closed: nothing is acquired any more. */
export class SemaphoreClosed extends Error {
  constructor() {
    super('The semaphore is closed.');
    this.name = 'SemaphoreClosed';
  }
}

/** Lets at most `limit` holders in at once, in the order in which they asked. */
export class Semaphore {
  readonly limit: number;
  #held = 0;
  #closed = false;
  readonly #queue = new WaitQueue();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** How many are held now. */
  get held(): number {
    return this.#held;
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Waits until one is free, and returns what releases it. Rejects with the signal's reason, or {@link SemaphoreClosed}. */
  async acquire(signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    if (this.#closed) throw new SemaphoreClosed();
    if (this.#held < this.limit) this.#held++;
    else await this.#queue.wait(signal);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      // Handed on while it counts as held, so that nobody who asks meanwhile comes first.
      if (!this.#queue.resolveNext()) this.#held--;
    };
  }

  /** As {@link acquire}, for at most `patienceMs`: undefined if none was free by then, or the semaphore is closed. */
  async acquireWithin(patienceMs: number, signal: AbortSignal): Promise<Release | undefined> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), patienceMs);
    try {
      return await this.acquire(AbortSignal.any([signal, patience.signal]));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (patience.signal.aborted || error instanceof SemaphoreClosed) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Does `work` while holding one. Rejects as {@link acquire} and as the work does. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Lets nobody in from now on, those who wait included. What is held stays held until it is released. */
  close(): void {
    this.#closed = true;
    this.#queue.rejectAll(new SemaphoreClosed());
  }
}
