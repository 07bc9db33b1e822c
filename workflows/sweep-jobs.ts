import { isCancellation, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { SweepJobsResult } from '../contract/intents/inputs.ts';

const { takeBackLost, startMissing } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  retry: { maximumAttempts: 3 },
});

/**
 * Once a minute: takes back jobs whose attempt is presumed lost, refunds searches and answers whose process died, and starts missing
 * workflows. If the first step fails, the second one still runs, and then the workflow fails.
 */
export async function sweepJobs(): Promise<SweepJobsResult> {
  const lost = await takeBackLost().catch((error: unknown) => {
    if (isCancellation(error)) throw error;
    return { error };
  });
  const { restarted } = await startMissing();
  if ('error' in lost) throw lost.error;
  setCurrentDetails(`${lost.requeued} queued again, ${lost.failed} failed, ${restarted} workflows started again.`);
  return { ...lost, restarted };
}
