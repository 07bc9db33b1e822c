import { WaitQueue } from './wait-queue.ts';

/** Callers that wait for something, each under a key. The keys are served in turns, and the callers of one key in the order in which they came. */
export class FairQueue<T = void> {
  /** Only keys for which somebody waits; the one that is served next comes first. */
  readonly #queues = new Map<string, WaitQueue<T>>();

  get size(): number {
    return this.#queues.values().reduce((sum, queue) => sum + queue.size, 0);
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Waits to be served. If the signal aborts, leaves the queue and rejects with its reason. */
  async wait(key: string, signal?: AbortSignal): Promise<T> {
    const queue = this.#queues.get(key) ?? new WaitQueue<T>();
    this.#queues.set(key, queue);
    try {
      return await queue.wait(signal);
    } finally {
      if (queue.size === 0 && this.#queues.get(key) === queue) this.#queues.delete(key);
    }
  }

  /**
   * Gives `value` to the first caller of the key that is served next. Returns the key, or undefined if nobody waits.
   */
  resolveNext(value: T): string | undefined {
    for (const [key, queue] of this.#queues) {
      this.#queues.delete(key);
      const served = queue.resolveNext(value);
      if (queue.size > 0) this.#queues.set(key, queue);
      if (served) return key;
    }
    return undefined;
  }

  rejectAll(error: unknown): void {
    for (const queue of this.#queues.values()) queue.rejectAll(error);
  }
}
