import type { DataConverter } from '@temporalio/common';
import { type InjectedSinks, type NativeConnection, Worker, type WorkflowBundle } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import type { TraceSinks } from '../base/telemetry/trace-header.ts';
import { jobTaskQueue, mainTaskQueue, webhookTaskQueue } from '../contract/intents/definitions.ts';
import type { JobKind } from '../db/schema.ts';
import { JobSlots } from './job-slots.ts';
import { postponeWhile } from './postpone.ts';
import { logActivities, traceActivities } from './telemetry.ts';

interface WorkerOptions {
  /** How Temporal names the workers; absent in tests. */
  identity?: string;
  connection: NativeConnection;
  namespace: string;
  /** The converter that writes and reads payloads. */
  dataConverter: DataConverter;
  activities: Activities;
  /** The kinds whose task queues this process polls. */
  jobKinds: readonly JobKind[];
  /** Whether this process makes the requests of webhooks. */
  webhooks?: boolean;
  /** The maximum number of attempts of all kinds in this process. */
  concurrency: number;
  shutdownGraceMs: number;
  /** Why the deployment is read-only; null while it is not. */
  findReadOnly: () => Promise<string | null>;
  /** The sinks that the workflows' sandbox calls. */
  sinks: InjectedSinks<TraceSinks>;
}

/** The time after the grace period at which an unfinished attempt is given up, in milliseconds. */
export const forceMs = 3_000;

/**
 * How many workflows a process caches between their tasks, at 0.25 MB each. The SDK's default for a heap of 4 GB is 2,300, which waiting
 * jobs would fill during an outage of the AI service. Other workflows are replayed for their next task.
 */
const maxCachedWorkflows = 600;

/** How many requests of webhooks a process makes at once. Each mostly waits, and holds a body of less than 20 kB. */
const webhookSlots = 500;

/** The workers of a process: one for workflows and their short activities, one for the attempts of each kind of job, one for webhooks. */
export async function createWorkers(options: WorkerOptions, workflowBundle: WorkflowBundle): Promise<Worker[]> {
  const slots = new JobSlots(options.concurrency);
  const attempts = options.jobKinds.map((kind) => createAttemptWorker(options, kind, slots));
  const webhooks = options.webhooks ? [createWebhookWorker(options)] : [];
  const created = await Promise.allSettled([createMainWorker(options, workflowBundle), ...attempts, ...webhooks]);
  const workers = created.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const failure = created.find((each) => each.status === 'rejected');
  if (failure) {
    // The first failure is thrown, even if ending the others fails.
    await Promise.allSettled(workers.map(discard));
    throw failure.reason;
  }
  return workers;
}

/** Ends a worker that was never run. Only a run releases its connection. */
async function discard(worker: Worker): Promise<void> {
  const run = worker.run();
  worker.shutdown();
  await run;
}

function createMainWorker({ activities, sinks, ...options }: WorkerOptions, workflowBundle: WorkflowBundle): Promise<Worker> {
  const { runJobAttempt: _, sendWebhook: __, ...shortActivities } = activities;
  return Worker.create({
    ...common(options),
    taskQueue: mainTaskQueue,
    workflowBundle,
    activities: shortActivities,
    sinks,
    maxCachedWorkflows,
    // Cached workflows of a lost worker continue elsewhere after this time.
    stickyQueueScheduleToStartTimeout: '3 seconds',
  });
}

function createAttemptWorker({ activities, ...options }: WorkerOptions, kind: JobKind, slots: JobSlots): Promise<Worker> {
  return Worker.create({
    ...common(options),
    taskQueue: jobTaskQueue(kind),
    activities: { runJobAttempt: activities.runJobAttempt },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
    maxHeartbeatThrottleInterval: '3 seconds',
    tuner: {
      activityTaskSlotSupplier: slots.supplier(),
      workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: 2 },
      localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    },
  });
}

function createWebhookWorker({ activities, ...options }: WorkerOptions): Promise<Worker> {
  return Worker.create({
    ...common(options),
    taskQueue: webhookTaskQueue,
    activities: { sendWebhook: activities.sendWebhook },
    maxConcurrentActivityTaskExecutions: webhookSlots,
    maxHeartbeatThrottleInterval: '3 seconds',
  });
}

function common({
  identity,
  connection,
  namespace,
  dataConverter,
  shutdownGraceMs,
  findReadOnly,
}: Omit<WorkerOptions, 'activities' | 'sinks'>) {
  return {
    ...(identity !== undefined && { identity }),
    connection,
    namespace,
    dataConverter,
    shutdownGraceTime: shutdownGraceMs,
    shutdownForceTime: shutdownGraceMs + forceMs,
    // The outer interceptor comes first, so that log lines have the id of the trace.
    interceptors: { activity: [traceActivities, logActivities, postponeWhile(findReadOnly)] },
  };
}
