import type { Release } from '../concurrency/fair-semaphore.ts';
import { Turns } from '../concurrency/turns.ts';
import { ApiError } from '../contract/api-error.ts';

/** How many of a user's lists are read at once, how many more may wait for that, and how long. */
const atOnce = 2;
const maxWaiting = 50;
const patienceMs = 10_000;

/** Whether the response of better-auth's endpoint grows with what a user or an organization has: it has no pages. */
export function isList(path: string): boolean {
  return /\/(list|get-full-organization)/.test(path);
}

/** Lets a user read few lists at once: better-auth has a whole list in memory before its bytes can be admitted as those of a large response. */
export class ListTurns {
  readonly #turns = new Turns({ limit: atOnce, maxWaiting });

  /**
   * Reads a list, and waits until its bytes are admitted, in a turn of the user. An error of better-auth is returned as it is. Throws
   * TOO_MANY_REQUESTS if too many of the user's wait, as `admit` does, and the signal's reason.
   */
  async read(
    { userId, signal }: { userId: string; signal: AbortSignal },
    call: () => Promise<Response>,
    admit: (bytes: number) => Promise<void>,
  ): Promise<Response> {
    const release = await this.#take(userId, signal);
    try {
      const response = await call();
      if (response.status !== 200) return response;
      const body = await response.arrayBuffer();
      await admit(body.byteLength);
      return new Response(body, response);
    } finally {
      release();
    }
  }

  async #take(userId: string, signal: AbortSignal): Promise<Release> {
    const release = await this.#turns.acquireWithin(userId, patienceMs, signal);
    if (release) return release;
    throw new ApiError('TOO_MANY_REQUESTS', { message: 'Too many lists of this user are being read.', retryAfterSeconds: 5 });
  }
}
