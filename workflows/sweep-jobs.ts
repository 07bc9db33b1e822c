import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { SweepJobsResult } from './definitions.ts';

const { sweepLostAttempts, sweepQueuedJobs } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  retry: { maximumAttempts: 3 },
});

/** Once a minute: takes back jobs whose attempt is presumed lost, and starts the workflows of queued jobs that have none. */
export async function sweepJobs(): Promise<SweepJobsResult> {
  const lost = await sweepLostAttempts();
  const { restarted } = await sweepQueuedJobs();
  setCurrentDetails(`${lost.requeued} queued again, ${lost.failed} failed, ${restarted} workflows started again.`);
  return { ...lost, restarted };
}
