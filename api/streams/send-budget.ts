import type { Release } from '../../concurrency/fair-semaphore.ts';
import { WaitQueue } from '../../concurrency/wait-queue.ts';

/** Who sends events to a client. */
export interface Sender {
  /**
   * Since when the client could have read, as `performance.now()`: when it took an event last, or one became ready for it. What waits for
   * the service itself has not been left unread.
   */
  readonly lastReadAt: number;
  /** Ends the stream at once: its client does not read what was sent. */
  drop(): void;
}

export interface SendBudgetLimits {
  /** How many bytes may be on their way to clients. One holder more may exceed it. */
  totalBytes: number;
  /** How long a client may read nothing while others wait, in milliseconds. */
  patienceMs: number;
}

/**
 * Bounds the bytes that are ready for clients and that they have not read yet: large events, or the pages of replays. Room is given to one
 * waiter in each turn of the event loop, so that other requests come between what they render. While others wait, a client that does not
 * read loses its stream.
 */
export class SendBudget {
  readonly #limits: SendBudgetLimits;
  readonly #waiting = new WaitQueue();
  readonly #holders = new Set<{ sender: Sender; since: number }>();
  #bytes = 0;
  #serving = false;
  #patience: NodeJS.Timeout | undefined;

  constructor(limits: SendBudgetLimits) {
    this.#limits = limits;
  }

  /** Waits for room for so many bytes. One holder is always allowed, whatever its size. Returns how to give the room back. */
  async acquire(sender: Sender, bytes: number): Promise<Release> {
    const turn = this.#waiting.wait();
    this.#serve();
    await turn;
    const holder = { sender, since: performance.now() };
    this.#holders.add(holder);
    this.#bytes += bytes;
    return () => {
      if (!this.#holders.delete(holder)) return;
      this.#bytes -= bytes;
      this.#serve();
    };
  }

  /** Lets one waiter go in each turn of the event loop. */
  #serve(): void {
    if (this.#serving || this.#waiting.size === 0) return;
    this.#serving = true;
    setImmediate(() => {
      this.#serving = false;
      if (this.#bytes >= this.#limits.totalBytes) return this.#watch();
      this.#waiting.resolveNext();
      this.#serve();
    });
  }

  #watch(): void {
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined;
      if (this.#waiting.size === 0) return;
      const before = performance.now() - this.#limits.patienceMs;
      for (const { sender, since } of [...this.#holders]) if (Math.max(since, sender.lastReadAt) <= before) sender.drop();
      this.#serve();
    }, this.#limits.patienceMs / 2).unref();
  }
}
