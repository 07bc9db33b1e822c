import type { Db, Transaction } from './connect.ts';

const attempts = 4;
/** deadlock_detected and serialization_failure: Postgres rolled back, and the same work succeeds when it is tried again. */
const retryableCodes = new Set(['40P01', '40001']);

/** Runs work in one transaction; a deadlock rolls it back and runs it again (rule 1), so the work must be free of other effects. */
export async function inTransaction<T>(db: Db, work: (trx: Transaction) => Promise<T>): Promise<T> {
  return retryDeadlocks(() => db.transaction().execute(work));
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

function isRetryable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && retryableCodes.has(String(error.code));
}
