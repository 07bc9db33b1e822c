import { type NativeConnection, Worker, type WorkflowBundle } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import type { JobKind } from '../db/schema.ts';
import { jobTaskQueue, mainTaskQueue } from '../workflows/definitions.ts';
import { JobSlots } from './job-slots.ts';

export interface WorkerOptions {
  connection: NativeConnection;
  namespace: string;
  activities: Activities;
  /** The kinds this process has handlers for: their queues are polled, no others. */
  jobKinds: readonly JobKind[];
  /** How many attempts run at once in this process, whatever their kind. */
  concurrency: number;
  shutdownGraceMs: number;
}

/** Attempts that outlive the grace are given up after this many more milliseconds. */
export const forceMs = 3_000;

/** The workers of a process: one for workflows and their short activities, and one for the attempts of each kind of job. */
export async function createWorkers(options: WorkerOptions, workflowBundle: WorkflowBundle): Promise<Worker[]> {
  const { connection, namespace, activities, shutdownGraceMs } = options;
  const { runJobAttempt, ...shortActivities } = activities;
  const shutdown = { shutdownGraceTime: shutdownGraceMs, shutdownForceTime: shutdownGraceMs + forceMs };
  const main = Worker.create({
    connection,
    namespace,
    taskQueue: mainTaskQueue,
    workflowBundle,
    activities: shortActivities,
    // What a lost worker had in memory goes on elsewhere after this.
    stickyQueueScheduleToStartTimeout: '3 seconds',
    ...shutdown,
  });
  const slots = new JobSlots(options.concurrency);
  const kinds = options.jobKinds.map((kind) =>
    Worker.create({
      connection,
      namespace,
      taskQueue: jobTaskQueue(kind),
      activities: { runJobAttempt },
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
      maxHeartbeatThrottleInterval: '3 seconds',
      tuner: {
        activityTaskSlotSupplier: slots.supplier(),
        workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: 2 },
        localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
        nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
      },
      ...shutdown,
    }),
  );
  return Promise.all([main, ...kinds]);
}
