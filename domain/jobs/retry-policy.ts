/**
 * How long to wait after the given attempt (1 is the first) before the next one; the last of `delaysMs` stays. A wait that a provider
 * asked for lengthens this one, up to the longest of `delaysMs`. Milliseconds.
 */
export function retryDelayMs(attempts: number, delaysMs: readonly number[], askedMs = 0): number {
  const delayMs = delaysMs[Math.min(attempts, delaysMs.length) - 1] ?? 0;
  return Math.max(delayMs, Math.min(askedMs, Math.max(...delaysMs, 0)));
}
