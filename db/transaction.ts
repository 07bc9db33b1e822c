import { sql } from 'kysely';
import { doBulkWork } from './bounded-client.ts';
import type { Db, Transaction } from './connect.ts';

const attemptsOnDeadlock = 4;
/** deadlock_detected and serialization_failure: Postgres rolled back, and the same work succeeds when it is tried again. */
const retryableCodes = new Set(['40P01', '40001']);

/** Runs work in one transaction; a deadlock rolls it back and runs it again (rule 1), so the work must be free of other effects. */
export async function inTransaction<T>(db: Db, work: (trx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (attempt >= attemptsOnDeadlock || !isRetryable(error)) throw error;
    }
  }
}

/**
 * The same for work that grows with what a tenant has, which may take minutes. A job that it writes must be written last, since a
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
