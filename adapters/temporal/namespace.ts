import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { mainTaskQueue } from '../../contract/intents/definitions.ts';

/** The attributes by which operators can search workflows (docs/rules.md, ids in histories). */
export const searchAttributes = {
  organizationId: defineSearchAttributeKey('OrganizationId', 'KEYWORD'),
  workspaceId: defineSearchAttributeKey('WorkspaceId', 'KEYWORD'),
  documentId: defineSearchAttributeKey('DocumentId', 'KEYWORD'),
  jobKind: defineSearchAttributeKey('JobKind', 'KEYWORD'),
  jobStatus: defineSearchAttributeKey('JobStatus', 'KEYWORD'),
  errorCode: defineSearchAttributeKey('ErrorCode', 'KEYWORD'),
};

/** KEYWORD, in Temporal's protocol. */
const keywordType = 2;

/** A run that is late or would overlap the previous one is skipped: the next one does its work. */
const policies = { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' } as const;

/** Longer than any run takes. A run that never ends, for example because a release cannot replay it, would block all later ones. */
const longestRun = { sweep: '30 minutes', daily: '3 days' } as const;

const schedules: ScheduleOptions[] = [
  {
    scheduleId: 'sweep-jobs',
    spec: { intervals: [{ every: '1 minute' }] },
    policies,
    action: {
      type: 'startWorkflow',
      workflowType: 'sweepJobs',
      workflowId: 'sweep-jobs',
      taskQueue: mainTaskQueue,
      workflowRunTimeout: longestRun.sweep,
    },
  },
  {
    scheduleId: 'housekeeping',
    spec: { calendars: [{ hour: 3, minute: 17 }] },
    policies: { ...policies, catchupWindow: '12 hours' },
    action: {
      type: 'startWorkflow',
      workflowType: 'housekeeping',
      workflowId: 'housekeeping',
      taskQueue: mainTaskQueue,
      workflowRunTimeout: longestRun.daily,
    },
  },
  {
    scheduleId: 'reconcile-billing',
    spec: { calendars: [{ hour: 4, minute: 17 }] },
    policies: { ...policies, catchupWindow: '12 hours' },
    action: {
      type: 'startWorkflow',
      workflowType: 'reconcileBilling',
      workflowId: 'reconcile-billing',
      taskQueue: mainTaskQueue,
      workflowRunTimeout: longestRun.daily,
    },
  },
  {
    scheduleId: 'reconcile-indexes',
    spec: { intervals: [{ every: '1 hour' }] },
    policies,
    action: {
      type: 'startWorkflow',
      workflowType: 'reconcileIndexes',
      workflowId: 'reconcile-indexes',
      taskQueue: mainTaskQueue,
      workflowRunTimeout: longestRun.daily,
    },
    state: { triggerImmediately: true },
  },
];

/** Registers the search attributes that the namespace lacks, and creates or updates the schedules. Call it at every start. */
export async function prepareNamespace(client: Client, namespace: string): Promise<void> {
  await registerSearchAttributes(client, namespace);
  await ensureSchedules(client);
}

async function registerSearchAttributes(client: Client, namespace: string): Promise<void> {
  const { operatorService } = client.connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(searchAttributes).filter(({ name }) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return;
  await operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map(({ name }) => [name, keywordType])),
  });
}

const patienceMs = 3_000;

/** Creates the schedules that are missing, as an operator may have deleted one; leaves the others as they are. Gives up after three seconds. */
export async function restoreSchedules(client: Client): Promise<void> {
  await client.withDeadline(Date.now() + patienceMs, async () => {
    for (const schedule of schedules) await createSchedule(client, schedule);
  });
}

/** Returns whether it was missing. */
async function createSchedule(client: Client, schedule: ScheduleOptions): Promise<boolean> {
  try {
    await client.schedule.create(schedule);
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
}

async function ensureSchedules(client: Client): Promise<void> {
  for (const schedule of schedules) {
    if (!(await createSchedule(client, schedule))) {
      const { scheduleId: _, state: __, ...shipped } = schedule;
      await client.schedule.getHandle(schedule.scheduleId).update((previous) => ({ ...shipped, state: previous.state }) as never);
    }
  }
}
