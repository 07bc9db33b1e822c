import { defineSignal, setHandler, sleep, workflowInfo } from '@temporalio/workflow';

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
