import { performance } from 'node:perf_hooks';

/** How long the thread is looked at before what is known of it is renewed, in milliseconds. */
const windowMs = 100;
/** Above this part of the time others notice that the thread is busy. */
const busyShare = 0.3;

/** How busy the thread of this process is with requests, and what one takes. */
export class LoopLoad {
  #since = performance.eventLoopUtilization();
  #sinceMs = performance.now();
  #cost = 0;
  #utilization = 0;
  #msPerRequest = 0;

  /** Counts a request; one whose cost is 2 as two. */
  note(cost = 1): void {
    const elapsedMs = performance.now() - this.#sinceMs;
    if (elapsedMs >= windowMs) this.#renew();
    this.#cost += cost;
  }

  /** Whether the thread was busy when it was last looked at. */
  get isBusy(): boolean {
    return this.#utilization > busyShare;
  }

  /** What a request of cost 1 took of the thread's time on average, in milliseconds; the time in which the thread waited for a processor included. */
  get msPerRequest(): number {
    return this.#msPerRequest;
  }

  #renew(): void {
    const now = performance.eventLoopUtilization();
    const { utilization, active } = performance.eventLoopUtilization(now, this.#since);
    this.#utilization = utilization;
    this.#msPerRequest = active / Math.max(1, this.#cost);
    this.#since = now;
    this.#sinceMs = performance.now();
    this.#cost = 0;
  }
}
