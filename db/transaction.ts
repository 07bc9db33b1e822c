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

function isRetryable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && retryableCodes.has(String(error.code));
}
