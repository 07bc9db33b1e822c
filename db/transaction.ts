import { sql } from 'kysely';
import { doBulkWork } from './bounded-client.ts';
import type { Db, Transaction } from './connect.ts';
import { collectIntents, dispatchCommitted, writeIntents } from './outbox.ts';

const attempts = 4;
/** deadlock_detected and serialization_failure: Postgres rolled back, and the same work succeeds when it is tried again. */
const retryableCodes = new Set(['40P01', '40001']);

/**
 * Runs work in one transaction, and dispatches the intents that it put into the outbox once it has committed. A deadlock rolls it
 * back and runs it again (docs/rules.md, lock order), so the work must be free of other effects.
 */
export async function inTransaction<T>(db: Db, work: (trx: Transaction) => Promise<T>): Promise<T> {
  const { result, messages } = await retryDeadlocks(() =>
    db.transaction().execute(async (trx) => {
      collectIntents(trx);
      const result = await work(trx);
      return { result, messages: await writeIntents(trx) };
    }),
  );
  dispatchCommitted(db, messages);
  return result;
}

/** Runs a transaction, which must roll itself back when it fails, again after a deadlock; four times at the most. */
export async function retryDeadlocks<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt >= attempts || !isRetryable(error)) throw error;
    }
  }
}

/**
 * Runs work as {@link inTransaction} does, for work that grows with what a tenant has and may take minutes. A job that it writes must be written last, since a
 * stream's replay looks back no further than an ordinary transaction lasts.
 */
export function inBulkTransaction<T>(db: Db, work: (trx: Transaction) => Promise<T>): Promise<T> {
  return inTransaction(db, async (trx) => {
    await sql.raw(doBulkWork).execute(trx);
    return work(trx);
  });
}

function isRetryable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && retryableCodes.has(String(error.code));
}
