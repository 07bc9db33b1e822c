import { readTaskQueue } from '../adapters/temporal/task-queue.ts';
import type { OpsContext } from './context.ts';

/** The workers that poll a task queue, and the tasks that wait in it. */
export interface TaskQueueState {
  queue: string;
  /** The workers that polled recently: `<process id>@<host>`. */
  workers: string[];
  /** Tasks that no worker has taken; approximate. */
  backlog: number;
}

/** Asks Temporal for the state of a task queue. Throws its errors. */
export async function findWorkers({ temporal, config }: OpsContext, name: string, taskQueueType: number): Promise<TaskQueueState> {
  const { identities, backlog } = await readTaskQueue(temporal, { namespace: config.temporal.namespace, name, taskQueueType });
  const workers = [...new Set(identities.map((identity) => identity.split(' ')[0] ?? ''))].sort();
  return { queue: name, workers, backlog };
}
