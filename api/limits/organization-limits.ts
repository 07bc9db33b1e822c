import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { KeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';
import type { Release } from '../../concurrency/semaphore.ts';
import { ApiError } from '../../contract/api-error.ts';

export interface OrganizationLimitsOptions {
  requestsPerSecond: number;
  /** The maximum number of requests at once. */
  atOnce: number;
  /** How many more may wait for a permit. */
  maxWaiting?: number;
  /** The maximum wait, in milliseconds. */
  patienceMs?: number;
}

/**
 * Limits the requests of one organization to this process, per second and at once. Requests over the second limit wait for a permit in
 * order of arrival (docs/decisions/limits.md).
 */
export class OrganizationLimits {
  readonly #rate: RateLimiterMemory;
  readonly #permits: KeyedSemaphore;
  readonly #patienceMs: number;

  constructor({ requestsPerSecond, atOnce, maxWaiting = 1_000, patienceMs = 15_000 }: OrganizationLimitsOptions) {
    this.#rate = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });
    this.#permits = new KeyedSemaphore({ limit: atOnce, maxWaiting });
    this.#patienceMs = patienceMs;
  }

  /**
   * Waits for a permit of `key`: an organization, or one kind of its requests. Throws TOO_MANY_REQUESTS over the rate, or if the wait would
   * be too long, and the signal's reason if it aborts.
   */
  async enter(key: string, signal: AbortSignal): Promise<Release> {
    try {
      await this.#rate.consume(key);
    } catch (refused) {
      throw tooMany(Math.ceil((refused as RateLimiterRes).msBeforeNext / 1_000));
    }
    return (await this.#permits.acquireWithin(key, this.#patienceMs, signal)) ?? refuse();
  }
}

function refuse(): never {
  throw tooMany(2);
}

function tooMany(retryAfterSeconds: number): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many requests of this organization are under way: try again in a moment.',
    retryAfterSeconds: Math.max(1, retryAfterSeconds),
  });
}
