export function median(values: number[]): number {
  return percentile(values, 50);
}

/** The value below which `percent` of the values lie. */
export function percentile(values: number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

/**
 * Measures two things in turn, A B A B …, after a warm-up of each that does not count, and answers the medians and the median of
 * the ratios pair by pair: the machine's speed drifts, and drifts for both.
 */
export async function alternate(
  rounds: number,
  measured: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<{ value: number; baseline: number; ratio: number }> {
  await measured();
  await baseline();
  const pairs: Array<[number, number]> = [];
  for (let round = 0; round < rounds; round++) pairs.push([await measured(), await baseline()]);
  return {
    value: median(pairs.map(([value]) => value)),
    baseline: median(pairs.map(([, base]) => base)),
    ratio: median(pairs.map(([value, base]) => value / base)),
  };
}

/** Runs a task `total` times, `concurrency` at once, and answers how many a second. */
export async function perSecond(total: number, concurrency: number, task: (index: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  const lane = async () => {
    while (next < total) await task(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return (total / (performance.now() - startedAt)) * 1_000;
}

/** How long each of `times` runs of a task takes, one after another: the median, in milliseconds. */
export async function medianMs(times: number, task: (index: number) => Promise<unknown>): Promise<number> {
  const durations: number[] = [];
  for (let index = 0; index < times; index++) {
    const startedAt = performance.now();
    await task(index);
    durations.push(performance.now() - startedAt);
  }
  return median(durations);
}

/** How many units a second a piece of work does. */
export async function rate(units: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (units / (performance.now() - startedAt)) * 1_000;
}
