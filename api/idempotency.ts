import { ApiError } from '../contract/api-error.ts';
import type { AnyRoute } from '../contract/route.ts';
import type { Db, Transaction } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import { findRecord, runOnce } from '../domain/idempotency.ts';
import type { Authorize } from './caller.ts';

const maxKeyLength = 200;

/** Throws BAD_REQUEST for an `Idempotency-Key` that is empty or longer than 200 characters. */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || (key.length > 0 && key.length <= maxKeyLength)) return;
  const message = `must have 1 to ${maxKeyLength} characters`;
  throw new ApiError('BAD_REQUEST', { message: `Idempotency-Key: ${message}`, data: { issues: [{ path: ['Idempotency-Key'], message }] } });
}

/** What a handler hands on of its context. */
interface IdempotentCall {
  caller: { userId: string };
  input: unknown;
  request: { idempotencyKey: string | undefined };
  authorize: Authorize;
}

/** What a route does at most once. */
export interface IdempotentEffect<Row, T> {
  /** Reads the rows that the effect starts from, and authorizes by them. Not called on a replay: the rows may be gone by then. */
  admit(): Promise<Row>;
  effect(trx: Transaction, row: Row): Promise<T>;
  /** What is stored of the result; all of it if absent. */
  record?: KeptResult<T>;
}

/** What is stored of a result, and how a replay makes the whole of it. */
export interface KeptResult<T> {
  keep(result: T): object;
  complete(kept: object): Promise<T>;
}

/**
 * Runs a route's effect in one transaction, at most once for the request's `Idempotency-Key`. Returns what the effect returned, the
 * first time or now. A replay is authorized in the organization of the first result.
 */
export async function withIdempotency<Row, T extends { organizationId: string }>(
  db: Db,
  route: AnyRoute,
  { caller, input, request, authorize }: IdempotentCall,
  { admit, effect, record = keepAll() }: IdempotentEffect<Row, T>,
): Promise<T> {
  const scope = { userId: caller.userId, operation: route.metadata.operation, key: request.idempotencyKey, request: input };
  const first = await findRecord<Pick<T, 'organizationId'>>(db, scope);
  if (first) {
    await authorize(first.organizationId);
    return record.complete(first);
  }
  const row = await admit();
  let result: T | undefined;
  const once = await inTransaction(db, (trx) =>
    runOnce(trx, scope, async () => {
      result = await effect(trx, row);
      return record.keep(result);
    }),
  );
  return once.replayed || result === undefined ? record.complete(once.record) : result;
}

/** Stores all of a result, which is small. `onReplay` is told of a result before it is returned again. */
export function keepAll<T extends object>(onReplay?: (result: T) => Promise<void>): KeptResult<T> {
  return {
    keep: (result) => result,
    async complete(kept) {
      await onReplay?.(kept as T);
      return kept as T;
    },
  };
}
