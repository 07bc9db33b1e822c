import type { Release } from '../../concurrency/fair-semaphore.ts';
import { type ChangedJob, type ChangedPage, type ChangePosition, replayStart } from '../../domain/jobs/list-changed-jobs.ts';
import type { SendBudget, Sender } from './send-budget.ts';

/** How large a page of a replay is at most, in bytes, unless its only job is larger. */
export const replayPageBytes = 256 * 1024;

/**
 * Reads a page of an organization's jobs that changed at a moment or later, or after a page; the oldest change first. Calls `admit` with
 * its size in bytes before the contents are read.
 */
export type ReadChanges = (from: Date | ChangePosition, admit: (bytes: number) => Promise<void>) => Promise<ChangedPage>;

interface ReplayOptions {
  read: ReadChanges;
  /** Bounds the pages that all clients are to read. */
  budget: SendBudget;
  /** As whom the replay holds its pages. */
  sender: Sender;
}

/** One replay: reads again, page by page, what has changed since a moment, until there is nothing newer. */
export class Replay {
  readonly #options: ReplayOptions;
  #from: Date | ChangePosition;
  #readTo: Date;
  /** The earliest of the changes that were left to this replay and that it may not have read yet. */
  #leftAt: Date | undefined;

  constructor(since: Date, options: ReplayOptions) {
    this.#options = options;
    this.#from = this.#readTo = replayStart(since);
  }

  /**
   * Leaves a change to the replay, if it is later than what the replay has read: the replay comes to it. If the client were told of it now,
   * it would resume after changes that it has not been told of yet.
   */
  takesOver({ updated_at }: ChangedJob): boolean {
    if (updated_at <= this.#readTo) return false;
    if (this.#leftAt === undefined || updated_at < this.#leftAt) this.#leftAt = updated_at;
    return true;
  }

  /** The pages, each read when it is asked for. Whoever takes one releases it when the client has read it. */
  async *pages(): AsyncGenerator<{ jobs: ChangedJob[]; release: Release }> {
    for (let hasMore = true; hasMore; ) {
      const { page, release } = await this.#readPage();
      if (page.end && page.end.at > this.#readTo) this.#readTo = page.end.at;
      yield { jobs: page.jobs, release };
      hasMore = this.#moveOn(page);
    }
  }

  /** Moves on behind a page, or to what was left to the replay since. Returns false if there is neither. */
  #moveOn({ more, end }: ChangedPage): boolean {
    const next = more && end ? end : this.#leftAt;
    if (next === undefined) return false;
    if (next === this.#leftAt) this.#leftAt = undefined;
    this.#from = next;
    return true;
  }

  /** Reads a page once there is room for it. */
  async #readPage(): Promise<{ page: ChangedPage; release: Release }> {
    const { read, budget, sender } = this.#options;
    let release = await budget.acquire(sender, replayPageBytes);
    const admit = async (bytes: number) => {
      if (bytes <= replayPageBytes) return;
      // Nobody waits for more room while it holds some: two of them would wait for each other.
      release();
      release = await budget.acquire(sender, bytes);
    };
    try {
      return { page: await read(this.#from, admit), release };
    } catch (error) {
      release();
      throw error;
    }
  }
}
