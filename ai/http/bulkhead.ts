import { Semaphore } from '../../concurrency/semaphore.ts';
import { ServiceError } from '../service-error.ts';

/**
 * Bounds how many uploads are held in memory at once. One that waits has not been read yet: the network's own back pressure
 * holds its bytes at the sender.
 */
export class Bulkhead {
  readonly #semaphore: Semaphore;
  readonly #maxWaiting: number;

  constructor(limit: number, maxWaiting: number) {
    this.#semaphore = new Semaphore(limit);
    this.#maxWaiting = maxWaiting;
  }

  /** Runs `work` when it may. Throws ServiceError 503 `busy` if too many wait, or the signal's reason. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const { held, limit, waiting } = this.#semaphore;
    if (held >= limit && waiting >= this.#maxWaiting) {
      throw new ServiceError(503, 'busy', 'Too many documents are being read just now.', { retryAfterSeconds: 2 });
    }
    return this.#semaphore.run(work, signal);
  }
}
