import { TimeSlices } from '../concurrency/time-slices.ts';

/** All scans of a process share its thread, with its requests. */
const slices = new TimeSlices({ sliceMs: 1 });
/** How many steps are made between two looks at the clock, each of which takes as long as several steps. It is about 10 microseconds. */
const stepsPerLook = 256;

/** Waits as long as whoever scans has to leave this thread and the database to others. */
export type Rest = () => Promise<void>;

/**
 * How one scan works on this thread: a slice of a millisecond at a time, in turns with scans of other keys. Before each portion of its steps it
 * asks whether the slice is over, and if so waits for the next.
 */
export class ScanPace {
  readonly #key: string;
  #steps = stepsPerLook;
  #sliceEndsAt = 0;
  readonly #rest: Rest | undefined;

  constructor(key: string, rest?: Rest) {
    this.#key = key;
    this.#rest = rest;
  }

  /** Whether the slice is over. `steps` is how many are made next; fewer than some hundreds are added up before the clock is looked at. */
  isOver(steps = stepsPerLook): boolean {
    this.#steps += steps;
    if (this.#steps < stepsPerLook) return false;
    this.#steps = 0;
    return performance.now() >= this.#sliceEndsAt;
  }

  /** Waits for the next slice, after a rest if one is due. */
  async next(): Promise<void> {
    await this.#rest?.();
    this.#sliceEndsAt = await slices.next(this.#key);
  }
}
