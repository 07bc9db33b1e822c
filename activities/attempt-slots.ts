import { FairSemaphore, type Release } from '../concurrency/fair-semaphore.ts';
import { WaitQueue } from '../concurrency/wait-queue.ts';

/** One more attempt, for an organization that has none under way in this process. */
const reserve = 1;

const defaults = {
  /** How long an attempt waits in a full worker before it goes back to the queue, from which another worker may take it. */
  patienceMs: 3_000,
  /** The same, if its organization has attempts under way here. It keeps the reserved slot from others as long as it waits. */
  ownPatienceMs: 100,
  /** How long no attempt is asked for beyond the limit after such a one: the next one may be of the same organization. */
  pauseMs: 1_000,
  /** The pause doubles up to this as long as only such ones come, and none of them is served. */
  longestPauseMs: 4_000,
};

/**
 * The slots of the attempts of all kinds in this process (`WORKER_CONCURRENCY`), and one more for an organization that has no attempt here:
 * it does not wait for the long documents of another one that hold all the rest (docs/decisions/slots.md).
 */
export class AttemptSlots {
  readonly #slots: FairSemaphore;
  readonly #times: typeof defaults;
  readonly #untilOpen = new WaitQueue();
  #isPaused = false;
  #pauseMs: number;

  constructor(limit: number, times: Partial<typeof defaults> = {}) {
    this.#slots = new FairSemaphore(limit, { reserve });
    this.#times = { ...defaults, ...times };
    this.#pauseMs = this.#times.pauseMs;
  }

  /** How many attempts may be taken from the queues at once. */
  get mostTaken(): number {
    return this.#slots.limit + (this.#isPaused ? 0 : reserve);
  }

  /** Waits until {@link mostTaken} is larger. Rejects with the signal's reason. */
  untilMore(signal: AbortSignal): Promise<void> {
    return this.#untilOpen.wait(signal);
  }

  /**
   * Waits for a slot. If none becomes free in time, the attempt has to go back to the queue: `behindOwn` says whether it does only because its
   * organization has others here. Rejects with the signal's reason.
   */
  async acquire(organizationId: string, signal: AbortSignal): Promise<Release | { behindOwn: boolean }> {
    const behindOwn = this.#slots.isHeldBy(organizationId);
    const release = await this.#slots.acquireWithin(organizationId, behindOwn ? this.#times.ownPatienceMs : this.#times.patienceMs, signal);
    if (release || !behindOwn) this.#pauseMs = this.#times.pauseMs;
    if (release) return release;
    if (behindOwn) this.#pause();
    return { behindOwn };
  }

  /** Lets no further attempt begin. */
  close(): void {
    this.#slots.close();
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    setTimeout(() => {
      this.#isPaused = false;
      this.#untilOpen.resolveAll();
    }, this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, this.#times.longestPauseMs);
  }
}
