import type { Release } from './semaphore.ts';
import { WaitQueue } from './wait-queue.ts';

/** How long after a tenant has come others leave a place for it. */
const sharedMs = 10 * 60_000;
/** How many tenants may each have the most that may wait. */
const crowdedTenants = 4;

/** Who asks; undefined stands for all who do not say. */
type Tenant = string | undefined;

/**
 * Has at most `limit` holders at once, of whom tenants get their turns: a free place goes to the next tenant that waits, not to the next
 * caller. While several tenants come, none of them holds the last place, so that work of one never fills all of them for long.
 */
export class FairSemaphore {
  readonly limit: number;
  /** In the order of their turns. */
  readonly #waiting = new Map<Tenant, WaitQueue>();
  readonly #held = new Map<Tenant, number>();
  readonly #now: () => number;
  #latest: { tenant: Tenant; at: number } = { tenant: undefined, at: Number.NEGATIVE_INFINITY };
  /** When a tenant other than the latest came last. */
  #otherAt = Number.NEGATIVE_INFINITY;

  /** `now` is a clock of milliseconds. */
  constructor(limit: number, now: () => number = () => performance.now()) {
    this.limit = limit;
    this.#now = now;
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
    const share = this.#isShared(tenant) ? Math.max(1, this.limit - 1) : this.limit;
    return (this.#held.get(tenant) ?? 0) >= share;
  }

  /** Whether a caller of the tenant would wait behind `maxWaiting` others of it, or behind four times as many of all tenants. */
  isCrowded(tenant: Tenant, maxWaiting: number): boolean {
    if (!this.isFull(tenant)) return false;
    return (this.#waiting.get(tenant)?.size ?? 0) >= maxWaiting || this.waiting >= maxWaiting * crowdedTenants;
  }

  /** Waits for a place. Rejects with the signal's reason. */
  async acquire(tenant: Tenant, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    this.#note(tenant);
    const place = this.#queueOf(tenant).wait(signal);
    this.#serve();
    await place;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#count(tenant, -1);
      this.#serve();
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

  #note(tenant: Tenant): void {
    if (tenant === undefined) return;
    if (tenant !== this.#latest.tenant) this.#otherAt = this.#latest.at;
    this.#latest = { tenant, at: this.#now() };
  }

  /** Whether others than the tenant have come lately. */
  #isShared(tenant: Tenant): boolean {
    const othersAt = tenant === this.#latest.tenant ? this.#otherAt : this.#latest.at;
    return tenant !== undefined && this.#now() - othersAt < sharedMs;
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

  /** Gives each place that is free to the next tenant that may have it, whose next turn then comes after all others. */
  #serve(): void {
    for (const [tenant, queue] of [...this.#waiting]) {
      if (queue.size > 0 && this.isFull(tenant)) continue;
      this.#waiting.delete(tenant);
      if (!queue.resolveNext()) continue;
      this.#count(tenant, 1);
      if (queue.size > 0) this.#waiting.set(tenant, queue);
      this.#serve();
      return;
    }
  }
}
