import type { Release } from '../../concurrency/semaphore.ts';
import { WaitQueue } from '../../concurrency/wait-queue.ts';

/** Who sends events to a client. */
export interface Sender {
  /** When the client took an event last, or the first one was ready, as `performance.now()`. */
  readonly lastReadAt: number;
  /** Ends the stream at once: its client does not read what was sent. */
  drop(): void;
}

export interface SendBudgetLimits {
  /** How many bytes of large events may be on their way to clients. */
  totalBytes: number;
  /** How long a client may read nothing while others wait, in milliseconds. */
  patienceMs: number;
}

/**
 * Bounds the large events that were rendered and that clients have not read yet. They are rendered one at a time, each in its own turn of
 * the event loop, so that other requests come between them. While others wait, a client that does not read loses its stream.
 */
export class SendBudget {
  readonly #limits: SendBudgetLimits;
  readonly #waiting = new WaitQueue();
  readonly #holders = new Set<{ sender: Sender }>();
  #bytes = 0;
  #serving = false;
  #patience: NodeJS.Timeout | undefined;

  constructor(limits: SendBudgetLimits) {
    this.#limits = limits;
  }

  /** Waits until an event of this size may be rendered. One is always allowed. */
  async acquire(sender: Sender, bytes: number): Promise<Release> {
    const turn = this.#waiting.wait();
    this.#serve();
    await turn;
    const holder = { sender };
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
      const before = performance.now() - this.#limits.patienceMs;
      for (const { sender } of [...this.#holders]) if (sender.lastReadAt <= before) sender.drop();
      this.#serve();
    }, this.#limits.patienceMs / 2).unref();
  }
}
