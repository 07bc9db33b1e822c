import { createHash } from 'node:crypto';
import { ApiError } from '../contract/api-error.ts';
import type { Db, Transaction } from '../db/connect.ts';

export interface IdempotencyScope {
  userId: string;
  operation: string;
  /** The client's `Idempotency-Key`; undefined where it sent none. */
  key: string | undefined;
  request: unknown;
}

/**
 * What an effect returned the first time, whatever became of its rows since; undefined without a key, or one that was not used yet.
 * Throws BAD_REQUEST if the key was used with another request.
 */
export async function findRecord<T extends object>(db: Db, { userId, operation, key, request }: IdempotencyScope): Promise<T | undefined> {
  if (key === undefined) return undefined;
  return await readRecord<T>(db, { userId, operation, key, requestHash: hashOf(request) });
}

/**
 * Runs an effect at most once for each key of a user and operation. The key is inserted first, in the effect's own transaction:
 * a concurrent twin waits for it and answers what the first one recorded, and a rollback leaves nothing. `replayed` records
 * are what the effect returned the first time. Throws BAD_REQUEST where the key was used with another request.
 */
export async function runOnce<T extends object>(
  trx: Transaction,
  scope: IdempotencyScope,
  effect: () => Promise<T>,
): Promise<{ replayed: boolean; record: T }> {
  if (scope.key === undefined) return { replayed: false, record: await effect() };
  const { userId, operation, key } = scope;
  const requestHash = hashOf(scope.request);
  const inserted = await trx
    .insertInto('idempotency_key')
    .values({ user_id: userId, operation, key, request_hash: requestHash })
    .onConflict((conflict) => conflict.columns(['user_id', 'operation', 'key']).doNothing())
    .returning('key')
    .executeTakeFirst();
  if (!inserted) {
    const record = await readRecord<T>(trx, { userId, operation, key, requestHash });
    // The insert met the row, and nothing removes it but the retention, after a day.
    if (record === undefined) throw new Error('an idempotency key was removed while it was used');
    return { replayed: true, record };
  }
  const record = await effect();
  await trx
    .updateTable('idempotency_key')
    .set({ response: JSON.stringify(record) })
    .where('user_id', '=', userId)
    .where('operation', '=', operation)
    .where('key', '=', key)
    .execute();
  return { replayed: false, record };
}

/** The same for requests that say the same: the transports put the fields of one input in different orders. */
function hashOf(request: unknown): string {
  const sorted = (_key: string, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return createHash('sha256').update(JSON.stringify(request, sorted)).digest('base64url');
}

async function readRecord<T>(
  db: Db,
  { userId, operation, key, requestHash }: { userId: string; operation: string; key: string; requestHash: string },
): Promise<T | undefined> {
  const row = await db
    .selectFrom('idempotency_key')
    .select(['request_hash', 'response'])
    .where('user_id', '=', userId)
    .where('operation', '=', operation)
    .where('key', '=', key)
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.request_hash === requestHash) return row.response as T;
  const message = 'This Idempotency-Key was used with another request.';
  throw new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['Idempotency-Key'], message }] } });
}
