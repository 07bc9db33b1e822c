import { defineSignal, proxyActivities, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

/** For the work on changes: the payment provider may be away for long. */
export const activities = proxyActivities<Activities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '20 seconds',
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '2 seconds', maximumInterval: '30 minutes' },
});

/** Changes that come so close together are one. */
export const settleMs = 2_000;

/**
 * Waits until changes have settled, runs the work, and again if `signal` told of more meanwhile. Returns the result of the last run, or
 * undefined if the history has become so long that the workflow is to continue as new.
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
