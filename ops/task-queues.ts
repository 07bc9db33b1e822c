import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { jobKinds } from '../contract/jobs.ts';
import { jobTaskQueue, mainTaskQueue } from '../workflows/definitions.ts';
import { askTemporal } from './ask-temporal.ts';
import type { OpsContext } from './command.ts';

/** What polls a task queue, and what waits in it for a worker. */
export interface TaskQueueState {
  queue: string;
  /** The identities of the workers seen polling lately: `<process id>@<host>`. */
  workers: string[];
  /** Tasks that no worker has taken; approximate. */
  backlog: number;
}

/** A poll lasts a minute; Temporal remembers a worker that is gone for five. */
const latelyMs = 90_000;
const workflowType = 1;
const activityType = 2;

/** Asks Temporal about the task queue of the workflows and those of each kind of job. Throws OpsError where it cannot be reached. */
export async function listTaskQueues(context: OpsContext): Promise<TaskQueueState[]> {
  const queues = [
    { name: mainTaskQueue, taskQueueType: workflowType },
    ...jobKinds.map((kind) => ({ name: jobTaskQueue(kind), taskQueueType: activityType })),
  ];
  const { workflowService } = context.temporal;
  const { namespace } = context.config.temporal;
  return askTemporal(context, async () => {
    const states: TaskQueueState[] = [];
    // One after another: calls that go on trying after the first has failed would outlive the connection.
    for (const { name, taskQueueType } of queues) {
      const state = await workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType, reportStats: true });
      const polling = (state.pollers ?? []).filter(({ lastAccessTime }) => Date.now() - (optionalTsToMs(lastAccessTime) ?? 0) < latelyMs);
      const workers = [...new Set(polling.map(({ identity }) => identity ?? ''))].sort();
      states.push({ queue: name, workers, backlog: Number(state.stats?.approximateBacklogCount ?? 0) });
    }
    return states;
  });
}
