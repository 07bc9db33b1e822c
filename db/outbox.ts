import { sql } from 'kysely';
import type { Transaction } from './connect.ts';
import type { OutboxOperation } from './schema.ts';

/** What to tell Temporal once the transaction has committed (rule 5). */
export type OutboxIntent =
  /** Starts a workflow; a run that is already under way is used, and gets `signal` where one is named. */
  | { operation: 'start'; workflowId: string; workflow: string; input: Record<string, unknown>; signal?: string }
  /** Signals a workflow; one that is gone needs no signal. */
  | { operation: 'signal'; workflowId: string; signal: string };

export interface OutboxMessage {
  id: number;
  workflowId: string;
  operation: OutboxOperation;
  payload: Omit<OutboxIntent, 'operation' | 'workflowId'>;
}

/** How long the process that wrote an intent may take to dispatch it before the relay takes over. */
const writerLeaseSeconds = 5;

/** Writes the intent in the transaction of the decision. The writer holds its lease and dispatches it after the commit. */
export async function addToOutbox(trx: Transaction, intent: OutboxIntent): Promise<OutboxMessage> {
  const { operation, workflowId, ...payload } = intent;
  const { id } = await trx
    .insertInto('outbox')
    .values({
      workflow_id: workflowId,
      operation,
      payload: JSON.stringify(payload),
      lease_until: sql<Date>`clock_timestamp() + make_interval(secs => ${writerLeaseSeconds})`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, workflowId, operation, payload };
}

const rowsPerInsert = 1_000;

/** Writes one signal to each of many workflows, as {@link addToOutbox} does. */
export async function addSignalsToOutbox(trx: Transaction, workflowIds: string[], signal: string): Promise<OutboxMessage[]> {
  const messages: OutboxMessage[] = [];
  const payload = { signal };
  for (let start = 0; start < workflowIds.length; start += rowsPerInsert) {
    const values = workflowIds.slice(start, start + rowsPerInsert).map((workflow_id) => ({
      workflow_id,
      operation: 'signal' as const,
      payload: JSON.stringify(payload),
      lease_until: new Date(Date.now() + writerLeaseSeconds * 1_000),
    }));
    const rows = await trx.insertInto('outbox').values(values).returning(['id', 'workflow_id']).execute();
    messages.push(...rows.map(({ id, workflow_id }) => ({ id, workflowId: workflow_id, operation: 'signal' as const, payload })));
  }
  return messages;
}
