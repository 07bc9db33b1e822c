import { pause } from '../concurrency/pause.ts';

/** A row of a list that is worked through from the newest to the oldest. */
export interface Place {
  created_at: Date;
  id: string;
}

/** How long it rests after a slice, compared with what the slice took. */
const restFactor = 3;
/** A rest is no longer than this: whoever waits for a sign of life hears nothing meanwhile. */
const longestRestMs = 5_000;

/**
 * Works through a large list a slice at a time, so that no slice holds its locks for long (docs/rules.md, large things are bounded).
 * `slice` gets the row to begin after, so that it does not read the deleted rows again, and returns its own last row, or undefined at the
 * end. Rests after each slice, so that it takes a quarter of the time, or more if a slice takes seconds. Throws what `slice` throws, or the
 * signal's reason.
 */
export async function inSlices(slice: (after: Place | undefined) => Promise<Place | undefined>, signal: AbortSignal): Promise<void> {
  for (let after: Place | undefined; ; ) {
    signal.throwIfAborted();
    const began = performance.now();
    after = await slice(after);
    if (!after) return;
    await pause(Math.min((performance.now() - began) * restFactor, longestRestMs), signal);
  }
}
