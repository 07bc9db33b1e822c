import { activityType, workflowType } from '../../adapters/temporal/task-queue.ts';
import { jobTaskQueue, mainTaskQueue, webhookTaskQueue } from '../../contract/intents/definitions.ts';
import { jobKinds } from '../../contract/jobs.ts';
import { listOutages, type Outage } from '../../domain/outages/outage.ts';
import { type Backlog, listBacklog } from '../../domain/platform/backlog.ts';
import { findLogLevel } from '../../domain/platform/log-level.ts';
import { measureWaiting, type Waiting } from '../../domain/platform/measure-platform.ts';
import { findReadOnly } from '../../domain/platform/read-only.ts';
import { type Command, parseFlags } from '../command.ts';
import { callTemporal, type OpsContext, OpsError } from '../context.ts';
import { age, counted, table } from '../table.ts';
import { findWorkers, type TaskQueueState } from '../task-queue.ts';

const maxRows = 50;

const flags = { json: { type: 'boolean' } } as const;

export const statusCommand: Command = {
  usage: 'status [--json]',
  summary: 'Show what waits: jobs by kind and organization, intents, objects to delete, mails to send, webhooks; and which workers poll.',
  flags,
  async run(args, context) {
    const { json } = parseFlags(args, flags);
    const { db } = context;
    const [backlog, waiting, outages] = await Promise.all([listBacklog(db, maxRows), measureWaiting(db), listOutages(db)]);
    const [readOnly, logLevel] = await Promise.all([findReadOnly(db), findLogLevel(db)]);
    const state = { ...waiting, outages, readOnly, logLevel };
    const taskQueues = await listTaskQueues(context).catch((error: unknown) => {
      if (error instanceof OpsError) return error;
      throw error;
    });
    // The state in Postgres is shown even if Temporal is down.
    const unreachable = taskQueues instanceof OpsError ? taskQueues : undefined;
    const seen = taskQueues instanceof OpsError ? null : taskQueues;
    if (json) context.print(JSON.stringify({ backlog, ...state, taskQueues: seen }));
    else for (const line of describe(backlog, state, seen)) context.print(line);
    if (unreachable) throw unreachable;
  },
};

interface State extends Waiting {
  outages: Outage[];
  readOnly: string | null;
  logLevel: { level: string; until: Date } | null;
}

function describe(
  backlog: Backlog[],
  { outbox, objectsToDelete, mails, webhooks, outages, readOnly, logLevel }: State,
  taskQueues: TaskQueueState[] | null,
): string[] {
  return [
    backlog.length === 0 ? 'No job is queued or runs.' : '',
    ...(backlog.length === 0 ? [] : table([backlogHead, ...backlog.map(toRow)])),
    '',
    `Intents that Temporal has not taken: ${sized(outbox)}`,
    `Objects to delete: ${sized(objectsToDelete)}${objectsToDelete.refused > 0 ? `; the store has refused ${objectsToDelete.refused}` : ''}`,
    `Mails to send: ${sized(mails)}${mails.refused > 0 ? `; the mail server has refused ${mails.refused}` : ''}`,
    `Webhook deliveries: ${sized(webhooks)}${webhooks.failingEndpoints > 0 ? `; ${webhooks.failingEndpoints} endpoints fail` : ''}`,
    ...outages.map(({ part, cause, seconds, waiting }) => `Down: ${part} (${cause}) for ${age(seconds)}; ${counted(waiting, 'job')} wait`),
    ...(readOnly === null ? [] : [`Read-only: ${readOnly}`]),
    ...(logLevel === null ? [] : [`Log level: ${logLevel.level} until ${logLevel.until.toISOString()}`]),
    ...(taskQueues === null ? [] : ['', ...table([queueHead, ...taskQueues.map(toQueueRow)])]),
  ].slice(backlog.length === 0 ? 0 : 1);
}

const backlogHead = ['KIND', 'ORGANIZATION', 'QUEUED', 'WAITING', 'RUNNING', 'OLDEST'];
const toRow = (row: Backlog) => [row.kind, row.organization, row.queued, row.waiting, row.running, age(row.oldestSeconds)];

const queueHead = ['TASK QUEUE', 'BACKLOG', 'WORKERS'];
const toQueueRow = ({ queue, backlog, workers }: TaskQueueState) => [queue, backlog, workers.length === 0 ? 'none' : workers.join(', ')];

function sized({ size, oldestSeconds }: { size: number; oldestSeconds: number | null }): string {
  return oldestSeconds === null ? String(size) : `${size}, the oldest for ${age(oldestSeconds)}`;
}

/** The state of the task queues of workflows, of webhooks and of each kind of job. Throws OpsError if Temporal cannot be reached. */
async function listTaskQueues(context: OpsContext): Promise<TaskQueueState[]> {
  const queues = [
    { name: mainTaskQueue, taskQueueType: workflowType },
    { name: webhookTaskQueue, taskQueueType: activityType },
    ...jobKinds.map((kind) => ({ name: jobTaskQueue(kind), taskQueueType: activityType })),
  ];
  return callTemporal(context, async () => {
    const states: TaskQueueState[] = [];
    // Sequentially: in parallel, the retries of the other calls would outlive the connection after the first one has failed.
    for (const { name, taskQueueType } of queues) {
      states.push(await findWorkers(context, name, taskQueueType));
    }
    return states;
  });
}
