import autocannon from 'autocannon';

export function median(values: number[]): number {
  return percentile(values, 50);
}

/** The value below which `percent` of the values lie. */
export function percentile(values: number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

/**
 * Measures two things alternately, A B A B …, after a warm-up of each, and returns their medians and the median of the ratios of the
 * pairs: the speed of the machine drifts, but it drifts for both.
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

/** Runs a task `total` times, `concurrency` at once. Returns runs per second. */
export async function perSecond(total: number, concurrency: number, task: (index: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  const lane = async () => {
    while (next < total) await task(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return (total / (performance.now() - startedAt)) * 1_000;
}

/** The median duration of `times` sequential runs of a task, in milliseconds. */
export async function medianMs(times: number, task: (index: number) => Promise<unknown>): Promise<number> {
  const durations: number[] = [];
  for (let index = 0; index < times; index++) {
    const startedAt = performance.now();
    await task(index);
    durations.push(performance.now() - startedAt);
  }
  return median(durations);
}

/** Units per second of a piece of work. */
export async function rate(units: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (units / (performance.now() - startedAt)) * 1_000;
}

/** Requests per second that a URL serves with 200 under a steady load. Throws if any response has another status. */
export async function requestsPerSecond(options: autocannon.Options & { seconds: number }): Promise<number> {
  const { seconds, ...rest } = options;
  const result = await autocannon({ connections: 20, duration: seconds, ...rest });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${options.url}: ${result.non2xx} answers were no success, ${result.errors} failed`);
  return result['2xx'] / result.duration;
}
