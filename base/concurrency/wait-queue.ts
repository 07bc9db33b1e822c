interface Waiter<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Callers that wait for something, served in the order in which they came. */
export class WaitQueue<T = void> {
  /** A set keeps the order, and removing from its middle is cheap. */
  readonly #waiters = new Set<Waiter<T>>();

  get size(): number {
    return this.#waiters.size;
  }

  /** Waits to be served. If the signal aborts, leaves the queue and rejects with its reason. */
  wait(signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave = () => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', abort);
      };
      const abort = () => waiter.reject(signal?.reason);
      const waiter: Waiter<T> = {
        resolve(value) {
          leave();
          resolve(value);
        },
        reject(error) {
          leave();
          reject(error);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /** Gives `value` to the caller that has waited longest; false if nobody waits. */
  resolveNext(value: T): boolean {
    const [next] = this.#waiters;
    next?.resolve(value);
    return next !== undefined;
  }

  /** Gives `value` to everybody who waits now. */
  resolveAll(value: T): void {
    for (const waiter of [...this.#waiters]) waiter.resolve(value);
  }

  rejectAll(error: unknown): void {
    for (const waiter of [...this.#waiters]) waiter.reject(error);
  }
}
