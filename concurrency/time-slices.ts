import { FairQueue } from './fair-queue.ts';

/**
 * Shares this thread between long computations and everything else that it does. A computation works for one slice, and asks for the next;
 * between two slices the event loop does what waits. Computations of different keys take turns.
 */
export class TimeSlices {
  readonly #sliceMs: number;
  readonly #waiting = new FairQueue<number>();
  #isScheduled = false;

  constructor({ sliceMs }: { sliceMs: number }) {
    this.#sliceMs = sliceMs;
  }

  /** Waits for a slice. Returns when it ends, as `performance.now()`; until then the caller may work without an `await`. */
  next(key: string): Promise<number> {
    const slice = this.#waiting.wait(key);
    this.#schedule();
    return slice;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.isEmpty) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#waiting.resolveNext(performance.now() + this.#sliceMs);
      this.#schedule();
    });
  }
}
