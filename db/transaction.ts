import type { Db, Transaction } from './connect.ts';
import { dispatchCommitted, writeIntents } from './outbox.ts';

const attempts = 4;
/** deadlock_detected and serialization_failure: Postgres has rolled back, so the same work may be run again. */
const retryableCodes = new Set(['40P01', '40001']);

/**
 * Runs work in one transaction, and dispatches its intents after the commit (docs/rules.md, outbox). After a deadlock the work is run
 * again (docs/rules.md, lock order), so it must have no effects outside of the transaction.
 */
export async function inTransaction<T>(db: Db, work: (trx: Transaction) => Promise<T>): Promise<T> {
  const { result, messages, facts } = await retryDeadlocks(() =>
    db.transaction().execute(async (begun) => {
      const trx = Object.assign(begun, { intents: [], facts: [] });
      const result = await work(trx);
      return { result, messages: await writeIntents(trx), facts: trx.facts };
    }),
  );
  for (const fact of facts) db.observe?.(fact);
  dispatchCommitted(db, messages);
  return result;
}

/** Runs a transaction, again after a deadlock, at most four times. The transaction must roll itself back when it fails. */
export async function retryDeadlocks<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt >= attempts || !isRetryable(error)) throw error;
    }
  }
}

/** Whether this is an error of such a code, or was made of one. */
function isRetryable(error: unknown): boolean {
  return hasRetryableCode(error) || (error instanceof Error && hasRetryableCode(error.cause));
}

function hasRetryableCode(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && retryableCodes.has(String(error.code));
}
