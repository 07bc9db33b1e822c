export interface AtOnce {
  /** How many steps run at once. */
  concurrency: number;
  /** Aborts when no further step is to begin; those under way are finished. */
  stopping: AbortSignal;
}

/** Does a step for each item. The first error stops all, and is thrown when the steps under way have ended: nothing is left half done. */
export async function forEachAtOnce<T>(
  items: Iterator<T> | AsyncIterator<T>,
  { concurrency, stopping }: AtOnce,
  step: (item: T) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const isOver = () => stopping.aborted || stop.signal.aborted;
  async function work(): Promise<void> {
    for (let next = await items.next(); !next.done && !isOver(); next = await items.next()) await step(next.value);
  }
  const begun = Array.from({ length: concurrency }, () =>
    work().catch((error) => {
      stop.abort();
      throw error;
    }),
  );
  const ended = await Promise.allSettled(begun);
  // A folder that was not read to its end is open still.
  await items.return?.();
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}
