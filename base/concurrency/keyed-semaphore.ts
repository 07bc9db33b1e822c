import { type Release, Semaphore } from './semaphore.ts';

/** For each key at most `limit` holders at once, in the order in which they asked. A key that nobody holds or waits for takes no memory. */
export class KeyedSemaphore {
  readonly #limit: number;
  readonly #maxWaiting: number;
  readonly #semaphores = new Map<string, Semaphore>();

  /** At most `maxWaiting` callers wait for one key. */
  constructor({ limit, maxWaiting }: { limit: number; maxWaiting: number }) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  /** Whether the next caller of the key would get nothing, without waiting. */
  isFull(key: string): boolean {
    return (this.#semaphores.get(key)?.waiting ?? 0) >= this.#maxWaiting;
  }

  /** Waits for a permit; undefined after `patienceMs`, if given, or at once if too many wait already. Rejects with the signal's reason. */
  async acquire(key: string, signal: AbortSignal, patienceMs?: number): Promise<Release | undefined> {
    if (this.isFull(key)) return undefined;
    const semaphore = this.#semaphores.get(key) ?? new Semaphore(this.#limit);
    this.#semaphores.set(key, semaphore);
    try {
      const release = await (patienceMs === undefined ? semaphore.acquire(signal) : semaphore.acquireWithin(patienceMs, signal));
      return (
        release &&
        (() => {
          release();
          this.#forget(key, semaphore);
        })
      );
    } finally {
      this.#forget(key, semaphore);
    }
  }

  #forget(key: string, semaphore: Semaphore): void {
    if (semaphore.held === 0 && semaphore.waiting === 0 && this.#semaphores.get(key) === semaphore) this.#semaphores.delete(key);
  }
}
