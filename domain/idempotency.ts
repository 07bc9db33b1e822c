import { createHash } from 'node:crypto';
import { ApiError } from '../contract/api-error.ts';
import type { Db, Transaction } from '../db/connect.ts';

interface IdempotencyScope {
  userId: string;
  operation: string;
  /** The client's `Idempotency-Key`; undefined if it sent none. */
  key: string | undefined;
  request: unknown;
}

/**
 * The result of the first request with this key, even if its rows have changed since; undefined without a key or for a new one. Throws
 * BAD_REQUEST if the key was used with another request.
 */
export async function findRecord<T extends object>(db: Db, scope: IdempotencyScope): Promise<T | undefined> {
  return scope.key === undefined ? undefined : await readRecord<T>(db, { ...scope, key: scope.key });
}

/**
 * Runs an effect at most once for each key of a user and operation (docs/rules.md, idempotency). The key is inserted first, in the
 * transaction of the effect: a concurrent request with the same key waits for it, and a rollback leaves nothing. Returns what the effect
 * returned, now or the first time. Throws BAD_REQUEST if the key was used with another request.
 */
export async function runOnce<T extends object>(trx: Transaction, scope: IdempotencyScope, effect: () => Promise<T>): Promise<T> {
  if (scope.key === undefined) return await effect();
  const used = { ...scope, key: scope.key };
  if (await insertKey(trx, used)) {
    const record = await effect();
    await writeRecord(trx, used, record);
    return record;
  }
  const record = await readRecord<T>(trx, used);
  // The insert conflicted with the row, which only the retention deletes, after a day.
  if (record === undefined) throw new Error('an idempotency key was removed while it was used');
  return record;
}

type UsedKey = IdempotencyScope & { key: string };

async function insertKey(trx: Transaction, { userId, operation, key, request }: UsedKey): Promise<boolean> {
  const inserted = await trx
    .insertInto('idempotency_key')
    .values({ user_id: userId, operation, key, request_hash: hashOf(request) })
    .onConflict((conflict) => conflict.columns(['user_id', 'operation', 'key']).doNothing())
    .returning('key')
    .executeTakeFirst();
  return inserted !== undefined;
}

async function writeRecord(trx: Transaction, { userId, operation, key }: UsedKey, record: object): Promise<void> {
  await trx
    .updateTable('idempotency_key')
    .set({ response: JSON.stringify(record) })
    .where('user_id', '=', userId)
    .where('operation', '=', operation)
    .where('key', '=', key)
    .execute();
}

async function readRecord<T>(db: Db, { userId, operation, key, request }: UsedKey): Promise<T | undefined> {
  const row = await db
    .selectFrom('idempotency_key')
    .select(['request_hash', 'response'])
    .where('user_id', '=', userId)
    .where('operation', '=', operation)
    .where('key', '=', key)
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.request_hash === hashOf(request)) return row.response as T;
  const message = 'This Idempotency-Key was used with another request.';
  throw new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['Idempotency-Key'], message }] } });
}

/** Equal for equal requests: the transports put the fields of one input in different orders. */
function hashOf(request: unknown): string {
  const sorted = (_key: string, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return createHash('sha256').update(JSON.stringify(request, sorted)).digest('base64url');
}
