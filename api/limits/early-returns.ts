import type { Response } from 'express';
import { KeptWaiting } from './kept-waiting.ts';
import { setBounded } from './set-bounded.ts';

/** How many clients are remembered. The oldest are forgotten. */
const mostClients = 2_000;

/**
 * Delays the refusal of a client that comes back before it was told to. Its request is made each time, because it may ask for something
 * else, and a refusal of better-auth costs nearly as much as a success (docs/decisions/limits.md).
 */
export class EarlyReturns {
  /** When each client was told to come again. */
  readonly #until = new Map<string, number>();
  readonly #kept = new KeptWaiting();

  /** Call it before the client is told to come again in so many seconds. Waits about a second if it was told so before and is early. */
  async refuse(client: string, retryAfterSeconds: number, res: Response): Promise<void> {
    const now = performance.now();
    if (now < (this.#until.get(client) ?? 0)) return await this.#kept.keep(res);
    setBounded(this.#until, client, now + 1_000 * retryAfterSeconds, mostClients);
  }
}
