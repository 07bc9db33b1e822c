import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { KeyedSemaphore } from '../../base/concurrency/keyed-semaphore.ts';
import type { Release } from '../../base/concurrency/semaphore.ts';
import { ApiError } from '../../contract/api-error.ts';

interface OrganizationLimitsOptions {
  requestsPerSecond: number;
  /** The maximum number of requests at once. */
  atOnce: number;
  /** How many more may wait for a permit. */
  maxWaiting?: number;
  /** The maximum wait, in milliseconds. */
  patienceMs?: number;
}

/** Searches mostly wait for the AI service and hold no connection meanwhile, so more of them run at once than of other requests. */
const searchesPerRequest = 4;

/**
 * Limits the requests of one organization to this process, per second and at once. Requests over the second limit wait for a permit in
 * order of arrival (docs/decisions/limits.md).
 */
export class OrganizationLimits {
  readonly #rate: RateLimiterMemory;
  readonly #permits: { request: KeyedSemaphore; search: KeyedSemaphore };
  readonly #patienceMs: number;

  constructor({ requestsPerSecond, atOnce, maxWaiting = 1_000, patienceMs = 15_000 }: OrganizationLimitsOptions) {
    this.#rate = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });
    const permits = (limit: number) => new KeyedSemaphore({ limit, maxWaiting });
    this.#permits = { request: permits(atOnce), search: permits(searchesPerRequest * atOnce) };
    this.#patienceMs = patienceMs;
  }

  /**
   * Waits for a permit of an organization; searches have their own. Throws TOO_MANY_REQUESTS over the rate, or if the wait would be too long,
   * and the signal's reason if it aborts.
   */
  async enter(organizationId: string, signal: AbortSignal, kind: 'request' | 'search' = 'request'): Promise<Release> {
    try {
      await this.#rate.consume(`${kind} ${organizationId}`);
    } catch (refused) {
      throw tooMany(Math.ceil((refused as RateLimiterRes).msBeforeNext / 1_000));
    }
    return (await this.#permits[kind].acquire(organizationId, signal, this.#patienceMs)) ?? refuse();
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
