import { sql } from 'kysely';
import { currentTraceparent } from '../base/telemetry/spans.ts';
import type { Intent } from '../contract/intents/definitions.ts';
import type { Db, Transaction } from './connect.ts';
import type { OutboxMessage } from './outbox-message.ts';

/** How long the process that wrote an intent may take to dispatch it. After that a relay does. */
const writerLeaseSeconds = 5;
/** How many intents of a transaction its process dispatches. The relay gets the others at once, and sends no more than Temporal takes. */
const maxDispatched = 100;
const rowsPerInsert = 1_000;

/**
 * Adds an intent to a transaction of `inTransaction` (docs/rules.md, outbox). Intents are written and dispatched in the order of these
 * calls. Throws in any other transaction, which would lose the intent.
 */
export function addToOutbox(trx: Transaction, intent: Intent): void {
  if (!trx.intents) throw new Error('This transaction was not begun by inTransaction, which writes the outbox.');
  trx.intents.push(intent);
}

/** Writes the intents of a transaction, as its last statement. Returns those that this process must dispatch, under a short lease. */
export async function writeIntents(trx: Transaction): Promise<OutboxMessage[]> {
  const { intents = [] } = trx;
  const messages: OutboxMessage[] = [];
  for (let start = 0; start < intents.length; start += rowsPerInsert) {
    const rows = await trx
      .insertInto('outbox')
      .values(intents.slice(start, start + rowsPerInsert).map((intent, offset) => toRow(intent, start + offset < maxDispatched)))
      .returning(['id', 'intent', 'traceparent'])
      .execute();
    messages.push(...rows);
  }
  return messages.slice(0, maxDispatched);
}

function toRow(intent: Intent, leased: boolean) {
  return {
    workflow_id: intent.workflowId,
    intent: JSON.stringify(intent),
    traceparent: currentTraceparent() ?? null,
    lease_until: leased ? sql<Date>`clock_timestamp() + make_interval(secs => ${writerLeaseSeconds})` : null,
  };
}

/** Passes committed intents to the dispatcher of `db`, if there is one. */
export function dispatchCommitted(db: Db, messages: OutboxMessage[]): void {
  if (messages.length > 0) db.dispatch?.(messages);
}
