import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { recentPollMs } from '../adapters/temporal/namespace.ts';
import type { OpsContext } from './context.ts';

/** The workers that poll a task queue, and the tasks that wait in it. */
export interface TaskQueueState {
  queue: string;
  /** The identities of the workers that polled recently: `<process id>@<host>`. */
  workers: string[];
  /** Tasks that no worker has taken; approximate. */
  backlog: number;
}

export const workflowType = 1;
export const activityType = 2;

/** Asks Temporal for the state of a task queue. Throws its errors. */
export async function readTaskQueue({ temporal, config }: OpsContext, name: string, taskQueueType: number): Promise<TaskQueueState> {
  const { namespace } = config.temporal;
  const state = await temporal.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType, reportStats: true });
  const polling = (state.pollers ?? []).filter(({ lastAccessTime }) => Date.now() - (optionalTsToMs(lastAccessTime) ?? 0) < recentPollMs);
  const workers = [...new Set(polling.map(({ identity }) => identity?.split(' ')[0] ?? ''))].sort();
  return { queue: name, workers, backlog: Number(state.stats?.approximateBacklogCount ?? 0) };
}
