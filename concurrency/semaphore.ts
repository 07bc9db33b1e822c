import { FairSemaphore, type Release } from './fair-semaphore.ts';

const onlyKey = '';

/** Has at most `limit` holders at once. Callers acquire it in the order in which they asked: a {@link FairSemaphore} with one key. */
export class Semaphore {
  readonly #fair: FairSemaphore;

  constructor(limit: number) {
    this.#fair = new FairSemaphore(limit);
  }

  get limit(): number {
    return this.#fair.limit;
  }

  get held(): number {
    return this.#fair.held;
  }

  get waiting(): number {
    return this.#fair.waiting;
  }

  /** Waits until there are fewer than `limit` holders. Rejects with the signal's reason. */
  acquire(signal?: AbortSignal): Promise<Release> {
    return this.#fair.acquire(onlyKey, signal);
  }

  /** As {@link acquire}, but undefined after `patienceMs`. */
  acquireWithin(patienceMs: number, signal: AbortSignal): Promise<Release | undefined> {
    return this.#fair.acquireWithin(onlyKey, patienceMs, signal);
  }

  /** Rejects all who wait, and all who ask from now on, with `SemaphoreClosed`. Holders stay until they release. */
  close(): void {
    this.#fair.close();
  }

  /** Does `work` as a holder. Rejects as {@link acquire} and as the work does. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#fair.run(onlyKey, work, signal);
  }
}
