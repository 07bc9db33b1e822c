import { sql } from 'kysely';
import type { Intent } from '../workflows/definitions.ts';
import type { Db, Transaction } from './connect.ts';

/** An intent as the table holds it. */
export interface OutboxMessage {
  id: number;
  intent: Intent;
}

/** How long the process that wrote an intent may take to dispatch it, before a relay does. */
const writerLeaseSeconds = 5;
const rowsPerInsert = 1_000;

const collected = new WeakMap<Transaction, Intent[]>();

/**
 * Adds an intent to a transaction of `inTransaction` (docs/rules.md, outbox). Intents are written and dispatched in the order of these
 * calls. Throws in any other transaction, which would lose the intent.
 */
export function addToOutbox(trx: Transaction, intent: Intent): void {
  const intents = collected.get(trx);
  if (!intents) throw new Error('This transaction was not begun by inTransaction, which writes the outbox.');
  intents.push(intent);
}

/** Lets a transaction collect intents until {@link writeIntents}. */
export function collectIntents(trx: Transaction): void {
  collected.set(trx, []);
}

/** Writes the intents of a transaction, as its last statement. This process holds the lease of each row for a moment. */
export async function writeIntents(trx: Transaction): Promise<OutboxMessage[]> {
  const intents = collected.get(trx) ?? [];
  collected.delete(trx);
  const messages: OutboxMessage[] = [];
  for (let start = 0; start < intents.length; start += rowsPerInsert) {
    const rows = await trx
      .insertInto('outbox')
      .values(intents.slice(start, start + rowsPerInsert).map(toRow))
      .returning(['id', 'intent'])
      .execute();
    messages.push(...rows);
  }
  return messages;
}

function toRow(intent: Intent) {
  return {
    workflow_id: intent.workflowId,
    intent: JSON.stringify(intent),
    lease_until: sql<Date>`clock_timestamp() + make_interval(secs => ${writerLeaseSeconds})`,
  };
}

/** Sends committed intents to Temporal. Never waits and never throws: an intent that fails stays for the relay. */
export type Dispatch = (messages: OutboxMessage[]) => void;

const dispatchers = new WeakMap<Db, Dispatch>();

/** Sets who dispatches the intents of the transactions of `db`. Without a dispatcher they wait for a relay. */
export function setDispatcher(db: Db, dispatch: Dispatch | undefined): void {
  if (dispatch) dispatchers.set(db, dispatch);
  else dispatchers.delete(db);
}

export function dispatchCommitted(db: Db, messages: OutboxMessage[]): void {
  if (messages.length > 0) dispatchers.get(db)?.(messages);
}
