/** How long to wait after the given attempt (1 is the first) before the next one; the last of `delaysMs` stays. Milliseconds. */
export function retryDelayMs(attempts: number, delaysMs: readonly number[]): number {
  return delaysMs[Math.min(attempts, delaysMs.length) - 1] ?? 0;
}
