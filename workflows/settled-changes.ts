import { defineSignal, proxyActivities, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

/** Activities for the work on changes. Their retries are patient, since the payment provider may be down for long. */
export const activities = proxyActivities<Activities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '20 seconds',
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '2 seconds', maximumInterval: '30 minutes' },
});

/** Changes within this time are handled together. */
export const settleMs = 2_000;

/**
 * Waits until changes have settled, runs the work, and repeats it if `signal` reported more meanwhile. Returns the last result, or
 * undefined if the history is so long that the workflow should continue as new.
 */
export async function workOnSettled<T>(
  signal: string,
  { wait, work }: { wait: () => void; work: () => Promise<T> },
): Promise<T | undefined> {
  let changed = false;
  setHandler(defineSignal(signal), () => {
    changed = true;
  });
  for (;;) {
    wait();
    await sleep(settleMs);
    changed = false;
    const result = await work();
    if (!changed) return result;
    if (workflowInfo().continueAsNewSuggested) return undefined;
  }
}
