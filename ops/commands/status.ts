import { type Backlog, listBacklog } from '../../domain/operations/backlog.ts';
import { measureWaiting, type Waiting } from '../../domain/operations/measure-platform.ts';
import { type Command, OpsError } from '../command.ts';
import { parseFlags } from '../flags.ts';
import { age, table } from '../table.ts';
import { listTaskQueues, type TaskQueueState } from '../task-queues.ts';

const mostRows = 50;

export const statusCommand: Command = {
  usage: 'status [--json]',
  summary: 'Show what waits: jobs by kind and organization, intents, objects to delete; and which workers poll.',
  async run(args, context) {
    const { json } = parseFlags(args, { json: { type: 'boolean' } });
    const [backlog, waiting] = await Promise.all([listBacklog(context.db, mostRows), measureWaiting(context.db)]);
    const taskQueues = await listTaskQueues(context).catch((error: unknown) => {
      if (error instanceof OpsError) return error;
      throw error;
    });
    // What Postgres knows is told while Temporal is away, too.
    const away = taskQueues instanceof OpsError ? taskQueues : undefined;
    const seen = taskQueues instanceof OpsError ? null : taskQueues;
    if (json) context.print(JSON.stringify({ backlog, ...waiting, taskQueues: seen }));
    else for (const line of describe(backlog, waiting, seen)) context.print(line);
    if (away) throw away;
  },
};

function describe(backlog: Backlog[], { outbox, objectsToDelete }: Waiting, taskQueues: TaskQueueState[] | null): string[] {
  return [
    backlog.length === 0 ? 'No job is queued or runs.' : '',
    ...(backlog.length === 0 ? [] : table([backlogHead, ...backlog.map(toRow)])),
    '',
    `Intents that Temporal has not taken: ${sized(outbox)}`,
    `Objects to delete: ${sized(objectsToDelete)}${objectsToDelete.refused > 0 ? `; the store has refused ${objectsToDelete.refused}` : ''}`,
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
