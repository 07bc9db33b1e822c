/** The position of a row in a list that is worked through from the newest to the oldest. */
export interface Position {
  created_at: Date;
  id: string;
}

/**
 * Works through a large list a slice at a time, so that no slice holds its locks for long (docs/rules.md, large things are bounded).
 * `slice` gets the last row of the slice before, so that it does not read deleted rows again, and returns its own last row; undefined at
 * the end. Throws what `slice` throws, or the signal's reason.
 */
export async function inSlices(slice: (after: Position | undefined) => Promise<Position | undefined>, signal: AbortSignal): Promise<void> {
  let after: Position | undefined;
  do {
    signal.throwIfAborted();
    after = await slice(after);
  } while (after);
}
