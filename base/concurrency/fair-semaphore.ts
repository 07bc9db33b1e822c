import type { Release } from './semaphore.ts';
import { WaitQueue } from './wait-queue.ts';

/** Who asks; undefined stands for all who do not say. */
type Tenant = string | undefined;

/**
 * Has at most `limit` holders at once, of whom tenants get their turns: a free place goes to the next tenant that waits, not to the next
 * caller. Once a second tenant has come, no tenant holds the last place, so that work of one never fills all of them for long.
 */
export class FairSemaphore {
  readonly limit: number;
  /** In the order of their turns. */
  readonly #waiting = new Map<Tenant, WaitQueue>();
  readonly #held = new Map<Tenant, number>();
  #first: Tenant;
  #isShared = false;

  constructor(limit: number) {
    this.limit = limit;
  }

  get held(): number {
    return this.#held.values().reduce((sum, count) => sum + count, 0);
  }

  get waiting(): number {
    return this.#waiting.values().reduce((sum, queue) => sum + queue.size, 0);
  }

  /** Whether a caller of the tenant would have to wait. */
  isFull(tenant: Tenant): boolean {
    if (this.held >= this.limit) return true;
    const share = this.#isShared && tenant !== undefined ? Math.max(1, this.limit - 1) : this.limit;
    return (this.#held.get(tenant) ?? 0) >= share;
  }

  /** Waits for a place. Rejects with the signal's reason. */
  async acquire(tenant: Tenant, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    this.#first ??= tenant;
    if (tenant !== undefined && tenant !== this.#first) this.#isShared = true;
    if (this.isFull(tenant)) await this.#queueOf(tenant).wait(signal);
    else this.#count(tenant, 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#count(tenant, -1);
      this.#serveNext();
    };
  }

  /** Does `work` as a holder. Rejects as {@link acquire} and as the work does. */
  async run<T>(tenant: Tenant, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(tenant, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #queueOf(tenant: Tenant): WaitQueue {
    const queue = this.#waiting.get(tenant) ?? new WaitQueue();
    this.#waiting.set(tenant, queue);
    return queue;
  }

  #count(tenant: Tenant, change: 1 | -1): void {
    const count = (this.#held.get(tenant) ?? 0) + change;
    if (count > 0) this.#held.set(tenant, count);
    else this.#held.delete(tenant);
  }

  /** Gives a place that is free to the next tenant that may have it, whose next turn then comes after all others. */
  #serveNext(): void {
    for (const [tenant, queue] of [...this.#waiting]) {
      if (queue.size > 0 && this.isFull(tenant)) continue;
      this.#waiting.delete(tenant);
      if (!queue.resolveNext()) continue;
      this.#count(tenant, 1);
      if (queue.size > 0) this.#waiting.set(tenant, queue);
      return;
    }
  }
}
