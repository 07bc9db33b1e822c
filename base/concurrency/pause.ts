import { setTimeout as sleep } from 'node:timers/promises';

/** Sleeps for `delayMs`, or until the signal wakes it by aborting. Never rejects. */
export async function pause(delayMs: number, wake: AbortSignal): Promise<void> {
  await sleep(delayMs, undefined, { signal: wake }).catch(() => {});
}
