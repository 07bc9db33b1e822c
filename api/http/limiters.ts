import type { Response } from 'express';
import { RateLimiterMemory, RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../../contract/api-error.ts';
import type { Pool } from '../../db/connect.ts';

/** One limit: how many points a key may use in a window. */
export interface Limiter {
  /** Takes a point. Throws TOO_MANY_REQUESTS, with the seconds to wait, once they are used up. */
  consume(key: string, setHeader?: (name: string, value: string) => void): Promise<void>;
}

/** The limiters of requests and searches: in this process's memory, or shared through Postgres by `LIMITER_STORE`. */
export interface Limiters {
  requests: Limiter;
  searches: Limiter;
  contact: Limiter;
}

interface LimitOptions {
  name: string;
  points: number;
  windowSeconds: number;
  message?: string;
}

/** Makes the limiters. With a pool they count in the table `rate_limit`, for more than one container. */
export function createLimiters(options: { requestsPerMinute: number; searchesPerMinute: number; pool: Pool | undefined }): Limiters {
  const make = (limit: LimitOptions) => createLimiter(limit, options.pool);
  return {
    requests: make({ name: 'requests', points: options.requestsPerMinute, windowSeconds: 60 }),
    searches: make({
      name: 'searches',
      points: options.searchesPerMinute,
      windowSeconds: 60,
      message: 'Too many searches — try again in a minute.',
    }),
    contact: make({ name: 'contact', points: 5, windowSeconds: 3_600 }),
  };
}

function createLimiter({ name, points, windowSeconds, message }: LimitOptions, pool: Pool | undefined): Limiter {
  const settings = { keyPrefix: name, points, duration: windowSeconds };
  const memory = new RateLimiterMemory(settings);
  // While the database does not answer, each process counts alone: what needs no database still answers.
  const insured = { ...settings, insuranceLimiter: memory };
  const limiter = pool
    ? new RateLimiterPostgres({ ...insured, storeClient: pool, storeType: 'pool', tableName: 'rate_limit', tableCreated: true })
    : memory;
  return {
    async consume(key, setHeader) {
      try {
        report(await limiter.consume(key));
      } catch (refused) {
        if (refused instanceof Error) throw refused;
        const state = refused as RateLimiterRes;
        report(state);
        const retryAfterSeconds = Math.max(1, Math.ceil(state.msBeforeNext / 1_000));
        throw new ApiError('TOO_MANY_REQUESTS', { retryAfterSeconds, ...(message ? { message } : {}) });
      }
      function report(state: RateLimiterRes): void {
        setHeader?.('RateLimit-Policy', `"${name}";q=${points};w=${windowSeconds}`);
        setHeader?.('RateLimit', `"${name}";r=${Math.max(0, state.remainingPoints)};t=${Math.ceil(state.msBeforeNext / 1_000)}`);
      }
    },
  };
}

/** Sets headers on an Express answer. */
export function headerSetter(res: Response): (name: string, value: string) => void {
  return (name, value) => res.setHeader(name, value);
}
