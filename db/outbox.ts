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
      lease_until: new Date(Date.now() + writerLeaseSeconds * 1_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, workflowId, operation, payload };
}
