import type { RequestHandler } from 'express';
import { RateLimiterMemory, RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../../contract/api-error.ts';
import type { Pool } from '../../db/connect.ts';
import { type Authentication, noteKey } from '../caller.ts';
import { clientAddressOf } from '../http/request.ts';

/** One limit: how many points a key may use in a window. */
interface Limiter {
  /** Uses a point. Throws TOO_MANY_REQUESTS with the seconds to wait if none is left. */
  consume(key: string, setHeader?: (name: string, value: string) => void): Promise<void>;
}

/** The limiters of requests, searches, questions and messages: in this process's memory, or shared through Postgres (`LIMITER_STORE`). */
export interface Limiters {
  requests: Limiter;
  /** The limiter of the API keys with this rate. */
  keyRequests(perMinute: number): Limiter;
  searches: Limiter;
  questions: Limiter;
  contact: Limiter;
}

/**
 * Refuses a client that sends too many requests. Headers show every client how many are left. An API key has its own limit, and does not
 * count for its address, which may be that of a server with many users; a bearer token that is no live key does.
 */
export function limitRequests({ requests, keyRequests }: Limiters, authentication: Authentication): RequestHandler {
  return async (req, res, next) => {
    const key = await noteKey(authentication, req, res);
    const limiter = key ? keyRequests(key.requestsPerMinute) : requests;
    await limiter.consume(key ? key.keyId : clientAddressOf(res), (name, value) => res.setHeader(name, value));
    next();
  };
}

/** The maximum number of limiters of API keys in the memory of a process. */
const maxRates = 1_000;

interface LimitOptions {
  name: string;
  points: number;
  windowSeconds: number;
  message?: string;
}

interface LimitersOptions {
  requestsPerMinute: number;
  searchesPerMinute: number;
  questionsPerMinute: number;
  pool: Pool | undefined;
}

/** Creates the limiters. With a pool they count in the table `rate_limit`, for several containers. */
export function createLimiters(options: LimitersOptions): Limiters {
  const make = (limit: LimitOptions) => createLimiter(limit, options.pool);
  const byRate = new Map<number, Limiter>();
  return {
    requests: make({ name: 'requests', points: options.requestsPerMinute, windowSeconds: 60 }),
    keyRequests(perMinute) {
      const limiter = byRate.get(perMinute) ?? make({ name: 'key', points: perMinute, windowSeconds: 60 });
      byRate.delete(perMinute);
      byRate.set(perMinute, limiter);
      // Tenants choose their rates. The one that was used longest ago is made again when it is needed.
      if (byRate.size > maxRates) byRate.delete(byRate.keys().next().value as number);
      return limiter;
    },
    searches: make({
      name: 'searches',
      points: options.searchesPerMinute,
      windowSeconds: 60,
      message: 'Too many searches — try again in a minute.',
    }),
    questions: make({
      name: 'questions',
      points: options.questionsPerMinute,
      windowSeconds: 60,
      message: 'Too many questions — try again in a minute.',
    }),
    contact: make({ name: 'contact', points: 5, windowSeconds: 3_600 }),
  };
}

function createLimiter({ name, points, windowSeconds, message }: LimitOptions, pool: Pool | undefined): Limiter {
  const settings = { keyPrefix: name, points, duration: windowSeconds };
  const memory = new RateLimiterMemory(settings);
  // While the database is down, each process counts by itself, so that requests that need no database still work.
  const insured = { ...settings, insuranceLimiter: memory };
  // A client without points costs no query here until its window is over.
  const shared = { ...insured, inMemoryBlockOnConsumed: points };
  const limiter = pool
    ? new RateLimiterPostgres({
        ...shared,
        storeClient: pool,
        storeType: 'pool',
        tableName: 'rate_limit',
        tableCreated: true,
        clearExpiredByTimeout: name === 'requests',
      })
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
