import { sql } from 'kysely';
import type { Intent } from '../workflows/definitions.ts';
import type { Db, Transaction } from './connect.ts';

/** An intent as the table holds it. */
export interface OutboxMessage {
  id: number;
  intent: Intent;
}

/** How long the process that wrote an intent may take to dispatch it before the relay takes over. */
const writerLeaseSeconds = 5;
const rowsPerInsert = 1_000;

const collected = new WeakMap<Transaction, Intent[]>();

/**
 * Notes what a transaction wants of Temporal. It is written when the transaction ends, in the order of these calls, and dispatched
 * after the commit (docs/rules.md, outbox). The transaction is one of {@link inTransaction}: another would lose it, so it throws.
 */
export function addToOutbox(trx: Transaction, intent: Intent): void {
  const intents = collected.get(trx);
  if (!intents) throw new Error('This transaction was not begun by inTransaction, which writes the outbox.');
  intents.push(intent);
}

/** Makes a transaction take intents until it is written. */
export function collectIntents(trx: Transaction): void {
  collected.set(trx, []);
}

/** Writes what a transaction has collected, as its last statement. This process holds the lease of each row for a moment. */
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

/** Hands committed intents to Temporal. Never waits and never throws: what fails stays for the relay. */
export type Dispatch = (messages: OutboxMessage[]) => void;

const dispatchers = new WeakMap<Db, Dispatch>();

/** Names who dispatches what the transactions of `db` commit, or nobody: then intents wait for a relay. */
export function setDispatcher(db: Db, dispatch: Dispatch | undefined): void {
  if (dispatch) dispatchers.set(db, dispatch);
  else dispatchers.delete(db);
}

/** Dispatches what a transaction of `db` has committed. */
export function dispatchCommitted(db: Db, messages: OutboxMessage[]): void {
  if (messages.length > 0) dispatchers.get(db)?.(messages);
}
