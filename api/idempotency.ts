import { ApiError } from '../contract/api-error.ts';
import type { AnyRoute } from '../contract/route.ts';
import type { Transaction } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import { findRecord, runOnce } from '../domain/idempotency.ts';
import type { ApiDeps } from './deps.ts';
import type { HandlerContext } from './procedure.ts';

const maxKeyLength = 200;

/** Throws BAD_REQUEST for an `Idempotency-Key` that is empty or longer than 200 characters. */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || (key.length > 0 && key.length <= maxKeyLength)) return;
  const message = `must have 1 to ${maxKeyLength} characters`;
  throw new ApiError('BAD_REQUEST', { message: `Idempotency-Key: ${message}`, data: { issues: [{ path: ['Idempotency-Key'], message }] } });
}

/** What a route does at most once. */
export interface IdempotentEffect<Row, T> {
  /** Reads the rows that the effect starts from, and authorizes by them. Not asked on a replay: they may be gone by then. */
  admit(): Promise<Row>;
  effect(trx: Transaction, row: Row): Promise<T>;
}

/**
 * Runs a route's effect in one transaction, at most once for the request's `Idempotency-Key`. Returns what the effect returned, the
 * first time or now. A replay is authorized in the organization of the first answer.
 */
export async function withIdempotency<Row, T extends { organizationId: string }>(
  deps: ApiDeps,
  route: AnyRoute,
  { caller, input, request, authorize }: Pick<HandlerContext<unknown>, 'caller' | 'input' | 'request' | 'authorize'>,
  { admit, effect }: IdempotentEffect<Row, T>,
): Promise<T> {
  const scope = { userId: caller.userId, operation: route.metadata.operation, key: request.idempotencyKey, request: input };
  const first = await findRecord<T>(deps.db, scope);
  if (first) {
    await authorize(first.organizationId);
    return first;
  }
  const row = await admit();
  const { record } = await inTransaction(deps.db, (trx) => runOnce(trx, scope, () => effect(trx, row)));
  return record;
}
