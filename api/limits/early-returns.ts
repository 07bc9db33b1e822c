import type { Response } from 'express';
import { KeptWaiting } from './kept-waiting.ts';

/** How many clients are remembered. The oldest are forgotten. */
const mostClients = 2_000;

/**
 * Delays what a client is told that comes back before it was told to. It is asked anew each time, because it may ask for something else, and
 * each refusal of better-auth costs nearly what a success does (docs/decisions/limits.md).
 */
export class EarlyReturns {
  /** When each client was told to come again. */
  readonly #until = new Map<string, number>();
  readonly #kept = new KeptWaiting();

  /** Call it before the client is told to come again in so many seconds. Waits about a second if it was told so before and is early. */
  async refuse(client: string, retryAfterSeconds: number, res: Response): Promise<void> {
    const now = performance.now();
    if (now < (this.#until.get(client) ?? 0)) return await this.#kept.keep(res);
    const [oldest] = this.#until.keys();
    if (oldest !== undefined && this.#until.size >= mostClients) this.#until.delete(oldest);
    this.#until.set(client, now + 1_000 * retryAfterSeconds);
  }
}
