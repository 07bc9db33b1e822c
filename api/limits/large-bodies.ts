import type { Request, Response } from 'express';
import { KeyedSemaphore } from '../../base/concurrency/keyed-semaphore.ts';
import { whenClientLeaves } from '../../base/concurrency/when-client-leaves.ts';
import { ApiError } from '../../contract/api-error.ts';
import { type Caller, callerId } from '../caller.ts';
import { clientAddressOf } from '../http/request.ts';

interface LargeBodiesOptions {
  /** Bodies up to this size are not counted. */
  smallBytes?: number;
  /** The maximum number of large bodies of one caller at once. */
  atOnce?: number;
  /** How many more requests of a caller may wait. Bodies may be slow, so they wait for as long as their client does. */
  maxWaiting?: number;
}

/**
 * Bounds the memory for large bodies of one caller: a user or an API key, or an address if nobody is signed in. A body counts until its
 * response is over. Its size has its own bound (`maxBodyBytes`).
 */
export class LargeBodies {
  readonly #smallBytes: number;
  readonly #permits: KeyedSemaphore;

  constructor({ smallBytes = 16 * 1024, atOnce = 8, maxWaiting = 300 }: LargeBodiesOptions = {}) {
    this.#smallBytes = smallBytes;
    this.#permits = new KeyedSemaphore({ limit: atOnce, maxWaiting });
  }

  /** Waits until the body may be read. Throws TOO_MANY_REQUESTS if too many wait already, and the signal's reason if the client leaves. */
  async admit(req: Request, res: Response): Promise<void> {
    if (!this.#mayBeLarge(req)) return;
    const caller = res.locals.caller as Caller | undefined;
    const release = await this.#permits.acquire(caller ? callerId(caller) : clientAddressOf(res), whenClientLeaves(res));
    if (!release)
      throw new ApiError('TOO_MANY_REQUESTS', { message: 'Too many large requests of this caller are under way.', retryAfterSeconds: 5 });
    if (res.closed) release();
    else res.once('close', release);
  }

  /** The size of a compressed or chunked body is unknown, so it may be large. */
  #mayBeLarge({ headers }: Request): boolean {
    if (headers['transfer-encoding'] !== undefined) return true;
    const declared = Number(headers['content-length'] ?? 0);
    return declared > this.#smallBytes || (declared > 0 && headers['content-encoding'] !== undefined);
  }
}
