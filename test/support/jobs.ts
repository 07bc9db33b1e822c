import type { History } from '@temporalio/common/lib/proto-utils.js';
import { expect } from 'chai';
import { workflowIds } from '../../contract/intents/definitions.ts';
import type { OutboxMessage } from '../../db/outbox-message.ts';
import type { JobKind } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
import { checkLedger } from '../../domain/credits/check-ledger.ts';
import { insertJob } from '../../domain/jobs/create-job.ts';
import type { JobRow } from '../../domain/jobs/job.ts';
import type { ServiceName } from '../../ops/local/stack.ts';
import type { Tenant, TestApi } from './api.ts';
import { until } from './processes.ts';

/** Creates a job of a tenant and returns it; throws unless the API took it. */
export async function createJob(api: TestApi, tenant: Tenant, fields: Record<string, unknown>): Promise<any> {
  const { token } = tenant.owner;
  const { organizationId } = tenant;
  const body = 'documentId' in fields ? fields : { organizationId, ...fields };
  const created = await api.request('POST', '/api/v1/jobs', { token, body });
  if (created.status !== 200) throw new Error(`jobs.create answered ${created.status}: ${JSON.stringify(created.body)}`);
  return created.body;
}

/**
 * Commits a job and its intent as `jobs.create` does, and dispatches nothing: as if the process had been killed in between. The
 * relay takes the intent over once the writer's lease is over.
 */
export async function insertJobOnly(
  api: TestApi,
  tenant: Tenant,
  { kind, documentId = null, maxAttempts = 4, ...input }: { kind: JobKind; documentId?: string | null; maxAttempts?: number },
): Promise<{ job: JobRow; message: OutboxMessage }> {
  const { organizationId, workspaceId } = tenant;
  const job = { organizationId, workspaceId, documentId, kind, maxAttempts, createdBy: null };
  const { db } = api.database;
  const row = await inTransaction(db, (trx) => insertJob(trx, { ...job, input: documentId ? { documentId, ...input } : input }, null));
  const workflowId = workflowIds.runJob(row.id);
  const message = await db
    .selectFrom('outbox')
    .select(['id', 'intent', 'traceparent'])
    .where('workflow_id', '=', workflowId)
    .executeTakeFirstOrThrow();
  return { job: row, message };
}

/** A job that asks the AI service for a summary once, and changes nothing else. */
export const summary = { kind: 'text.summarize' as const, text: 'One sentence. Another sentence.', maxSentences: 2 };

/** Nothing the jobs did may leave the ledger or a month's counter wrong. */
export async function expectSoundLedger(api: TestApi): Promise<void> {
  expect(await checkLedger(api.database.db)).to.deep.equal([]);
}

/** The amounts that the ledger holds of a job, in the order they were written. */
export async function amountsOf(api: TestApi, jobId: string): Promise<number[]> {
  const entries = await api.database.db.selectFrom('credit_entry').select('amount').where('job_id', '=', jobId).orderBy('id').execute();
  return entries.map(({ amount }) => amount);
}

/** The credits that an organization has used, in all months. */
export async function creditsUsed(api: TestApi, organizationId: string): Promise<number> {
  const months = await api.database.db.selectFrom('credit_month').select('used').where('organization_id', '=', organizationId).execute();
  return months.reduce((sum, { used }) => sum + used, 0);
}

/** A service must not have logged an error, nor anything that is not its own log: Node prints unhandled rejections as they are. */
export function expectCleanLog(api: TestApi, ...services: ServiceName[]): void {
  for (const service of services.length > 0 ? services : (['api'] as ServiceName[]))
    expect(errorsOf(api, service), `the log of ${service}`).to.deep.equal([]);
}

/** The lines of a service's log that tell of an error, save those with an expected message. */
export function errorsOf(api: TestApi, service: ServiceName, expected: string[] = []): string[] {
  const lines = api.stack
    .readLog(service)
    .split('\n')
    .filter((line) => line !== '');
  return lines.filter((line) => {
    if (!line.startsWith('{')) return true;
    const { level, msg } = JSON.parse(line);
    return level >= 50 && !expected.includes(msg);
  });
}

/** A step of a workflow's history, in words. */
interface Step {
  type: string;
  /** Of an activity: its name. */
  activity?: string;
  /** Of an activity that was tried again: how many attempts it took, and the code of the last failure before. */
  attempts?: number;
  lastFailure?: string;
  /** Of a failure: its code or kind of timeout. */
  failure?: string;
  /** Of a timer: how long it runs. */
  timerMs?: number;
}

/** What the workflow of a job returns, or throws; the workflow is started after the job's creation was answered. */
export async function resultOf(api: TestApi, jobId: string): Promise<unknown> {
  const handle = api.temporal.client.workflow.getHandle(`job-${jobId}`);
  const isThere = () =>
    handle.describe().then(
      () => true,
      () => false,
    );
  await until(isThere);
  return handle.result();
}

/** What a job's workflow has done so far; nothing before it has begun. */
export async function historySoFar(api: TestApi, jobId: string): Promise<Step[]> {
  const history = await api.temporal.client.workflow
    .getHandle(`job-${jobId}`)
    .fetchHistory()
    .catch(() => undefined);
  return history ? stepsOf(history) : [];
}

/** The history of a job's workflow once that is over: activities, timers and the end. */
export async function historyOf(api: TestApi, jobId: string): Promise<Step[]> {
  const handle = api.temporal.client.workflow.getHandle(`job-${jobId}`);
  await handle.result().catch(() => undefined);
  return stepsOf(await handle.fetchHistory());
}

function stepsOf(history: History): Step[] {
  const names = new Map<string, string>();
  const retried = new Map<string, Pick<Step, 'attempts' | 'lastFailure'>>();
  const steps: Step[] = [];
  for (const event of history.events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) names.set(String(event.eventId), scheduled.activityType?.name ?? '');
    const started = event.activityTaskStartedEventAttributes;
    if (started && Number(started.attempt) > 1) {
      const { applicationFailureInfo: coded, timeoutFailureInfo } = started.lastFailure ?? {};
      const lastFailure = coded?.type ?? (timeoutFailureInfo ? 'timed out' : '');
      retried.set(String(started.scheduledEventId), { attempts: Number(started.attempt), lastFailure });
    }
    const failed = event.activityTaskFailedEventAttributes;
    if (failed) steps.push({ ...named('ActivityTaskFailed', failed), failure: failed.failure?.applicationFailureInfo?.type ?? '' });
    const timedOut = event.activityTaskTimedOutEventAttributes;
    if (timedOut) {
      const kind = String(timedOut.failure?.timeoutFailureInfo?.timeoutType ?? '');
      steps.push({ ...named('ActivityTaskTimedOut', timedOut), failure: kind });
    }
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed) steps.push(named('ActivityTaskCompleted', completed));
    const canceled = event.activityTaskCanceledEventAttributes;
    if (canceled) steps.push(named('ActivityTaskCanceled', canceled));
    const timer = event.timerStartedEventAttributes;
    if (timer) steps.push({ type: 'TimerStarted', timerMs: toMs(timer.startToFireTimeout) });
    const ended = event.workflowExecutionFailedEventAttributes;
    if (ended) steps.push({ type: 'WorkflowExecutionFailed', failure: ended.failure?.applicationFailureInfo?.type ?? '' });
    if (event.workflowExecutionCompletedEventAttributes) steps.push({ type: 'WorkflowExecutionCompleted' });
  }
  return steps;

  function named(type: string, attributes: { scheduledEventId?: unknown }): Step {
    const id = String(attributes.scheduledEventId);
    return { type, activity: names.get(id) ?? '', ...retried.get(id) };
  }
}

function toMs(duration: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(duration?.seconds ?? 0) * 1_000 + Math.round((duration?.nanos ?? 0) / 1e6);
}
