/** The waits between the attempts of a job: 10, 30, then 90 s, and 90 s from there on (spec §3). Milliseconds. */
export const retryPolicy = { delaysMs: [10_000, 30_000, 90_000] as readonly number[] };

/**
 * How long to wait after the given attempt (1 is the first) before the next one. A wait that a provider asked for lengthens this
 * one, up to the longest of the policy. Milliseconds.
 */
export function retryDelayMs(attempts: number, delaysMs: readonly number[] = retryPolicy.delaysMs, askedMs = 0): number {
  const delayMs = delaysMs[Math.min(attempts, delaysMs.length) - 1] ?? 0;
  return Math.max(delayMs, Math.min(askedMs, Math.max(...delaysMs, 0)));
}
