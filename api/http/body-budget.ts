import type { Request, Response } from 'express';
import { ByteBudget, type ByteBudgetLimits, type HeldBytes } from '../../concurrency/byte-budget.ts';
import { whenClientLeaves } from '../../concurrency/client-left.ts';
import { ApiError } from '../../contract/api-error.ts';
import { maxBodyBytes } from '../../contract/errors.ts';
import type { Caller } from '../caller.ts';
import { clientAddressOf } from './request.ts';

export interface BodyBudgetLimits extends ByteBudgetLimits {
  /** How long a request waits for room, before its body is read. */
  patienceMs: number;
}

const megabyte = 1024 * 1024;
const defaultLimits: BodyBudgetLimits = { totalBytes: 64 * megabyte, bytesPerKey: 8 * megabyte, maxWaiting: 100, patienceMs: 5_000 };

/**
 * Bounds what the bodies of requests hold in this process, from before they are read until their responses are over. A user has a share, or an
 * address without one: the next requests of the same wait, and nobody else does.
 */
export class BodyBudget {
  readonly #budget: ByteBudget;
  readonly #patienceMs: number;

  constructor(limits: Partial<BodyBudgetLimits> = {}) {
    const { patienceMs, ...rest } = { ...defaultLimits, ...limits };
    this.#budget = new ByteBudget(rest);
    this.#patienceMs = patienceMs;
  }

  /** What bodies hold now, in bytes. */
  get bytes(): number {
    return this.#budget.bytes;
  }

  /**
   * Waits until a body may be read. Returns undefined if there is none. Throws TOO_MANY_REQUESTS if the caller has too much under way,
   * SERVICE_UNAVAILABLE if all have, and the signal's reason if the client leaves.
   */
  async admit(req: Request, res: Response): Promise<HeldBytes | undefined> {
    const bytes = mostBytesOf(req);
    if (bytes === 0) return undefined;
    const caller = res.locals.caller as Caller | undefined;
    const key = caller ? `user ${caller.userId}` : `address ${clientAddressOf(res)}`;
    const held = await this.#budget.acquireWithin(key, bytes, this.#patienceMs, whenClientLeaves(res));
    if (!held) throw refusal(this.#budget.isExhausted(key, bytes));
    if (res.closed) held.release();
    else res.once('close', held.release);
    return held;
  }
}

/** The length that a request declares, if it will be that; else the most that is read. */
function mostBytesOf({ headers }: Request): number {
  if (headers['transfer-encoding'] === undefined && headers['content-length'] === undefined) return 0;
  const declared = headers['content-encoding'] === undefined ? Number(headers['content-length']) : Number.NaN;
  return Number.isInteger(declared) ? Math.min(declared, maxBodyBytes) : maxBodyBytes;
}

function refusal(ofCaller: boolean): ApiError {
  return ofCaller
    ? new ApiError('TOO_MANY_REQUESTS', { message: 'Too many large requests of this caller are under way.', retryAfterSeconds: 5 })
    : new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many large requests are under way: try again in a moment.' });
}
