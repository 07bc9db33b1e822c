import { hostname } from 'node:os';
import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { mainTaskQueue } from '../../contract/intents/definitions.ts';
import { readTaskQueue, workflowType } from './task-queue.ts';

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

interface ScheduleChoices extends Pick<ScheduleOptions, 'state'> {
  catchupWindow?: '12 hours';
  /** Longer than any run takes. A run that never ends, for example because a release cannot replay it, would block all later ones. */
  workflowRunTimeout?: '30 minutes' | '3 days';
}

/** A schedule that starts a workflow. A run that is late or would overlap the previous one is skipped: the next one does its work. */
function schedule(id: string, workflowType: string, spec: ScheduleOptions['spec'], choices: ScheduleChoices = {}): ScheduleOptions {
  const { catchupWindow = '1 minute', workflowRunTimeout = '3 days', ...state } = choices;
  return {
    scheduleId: id,
    spec,
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow },
    action: { type: 'startWorkflow', workflowType, workflowId: id, taskQueue: mainTaskQueue, workflowRunTimeout },
    ...state,
  };
}

const schedules = [
  schedule('sweep-jobs', 'sweepJobs', { intervals: [{ every: '1 minute' }] }, { workflowRunTimeout: '30 minutes' }),
  schedule('housekeeping', 'housekeeping', { calendars: [{ hour: 3, minute: 17 }] }, { catchupWindow: '12 hours' }),
  schedule('reconcile-billing', 'reconcileBilling', { calendars: [{ hour: 4, minute: 17 }] }, { catchupWindow: '12 hours' }),
  schedule('reconcile-indexes', 'reconcileIndexes', { intervals: [{ every: '1 hour' }] }, { state: { triggerImmediately: true } }),
];

/** Workers of another deployment poll the namespace. */
export class NamespaceOfAnotherDeployment extends Error {
  constructor({ namespace, owner, deployment }: { namespace: string; owner: string; deployment: string }) {
    super(
      `Workers of deployment ${owner} poll the namespace ${namespace}, and this database is of deployment ${deployment}: each would take the other's work, and find no row of it. Give each deployment a namespace of its own (TEMPORAL_NAMESPACE).`,
    );
    this.name = 'NamespaceOfAnotherDeployment';
  }
}

/** How Temporal names the workers of this process. */
export function workerIdentity(deployment: string): string {
  return `${process.pid}@${hostname()} ${deployment}`;
}

/** Throws {@link NamespaceOfAnotherDeployment} if a worker of one polls the namespace. */
export async function checkNamespaceOwner(client: Client, namespace: string, deployment: string): Promise<void> {
  const { identities } = await readTaskQueue(client, { namespace, name: mainTaskQueue, taskQueueType: workflowType });
  for (const identity of identities) {
    const [, owner = deployment] = identity.split(' ');
    if (owner !== deployment) throw new NamespaceOfAnotherDeployment({ namespace, owner, deployment });
  }
}

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
