import { ApplicationFailure } from '@temporalio/activity';
import { Semaphore } from '../concurrency/semaphore.ts';

/** How many long deletions a process works at together, and how long one that finds no turn waits for another attempt. */
export interface DeletionTurnsOptions {
  atOnce: number;
  nextAttempt: '2 seconds' | '10 seconds';
}

/**
 * The turns of deletions that may take hours. All tenants share the activities that a process runs at once. So a deletion beyond the first
 * few does not wait here: it fails for now, which frees its slot, and Temporal tries it again.
 */
export class DeletionTurns {
  readonly #turns: Semaphore;
  readonly #nextAttempt: DeletionTurnsOptions['nextAttempt'];

  constructor({ atOnce, nextAttempt }: DeletionTurnsOptions) {
    this.#turns = new Semaphore(atOnce);
    this.#nextAttempt = nextAttempt;
  }

  /** Throws a benign failure of type `busy` if there is no turn. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#turns.held >= this.#turns.limit) throw this.#busy();
    return await this.#turns.run(work, signal);
  }

  #busy(): ApplicationFailure {
    return ApplicationFailure.create({
      type: 'busy',
      message: 'Other deletions are under way.',
      nextRetryDelay: this.#nextAttempt,
      category: 'BENIGN',
    });
  }
}
