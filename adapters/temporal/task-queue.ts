import type { Client } from '@temporalio/client';

export const workflowType = 1;
export const activityType = 2;

// A poll lasts a minute, but Temporal remembers a worker for five minutes after its last one.
const recentMs = 90_000;

interface TaskQueue {
  namespace: string;
  name: string;
  taskQueueType: number;
}

/** The identities of the workers that polled a task queue recently, and how many tasks no worker has taken, which is approximate. */
export async function readTaskQueue(
  { workflowService }: Client,
  { namespace, name, taskQueueType }: TaskQueue,
): Promise<{ identities: string[]; backlog: number }> {
  const { pollers, stats } = await workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType, reportStats: true });
  const since = Date.now() - recentMs;
  const polling = (pollers ?? []).filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000 > since);
  return { identities: polling.map(({ identity }) => identity ?? ''), backlog: Number(stats?.approximateBacklogCount ?? 0) };
}
