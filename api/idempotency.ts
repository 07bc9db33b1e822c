import { ApiError } from '../contract/api-error.ts';
import type { AnyRoute } from '../contract/route.ts';
import type { Db, Transaction } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import { findRecord, runOnce } from '../domain/idempotency.ts';
import { type Authorize, type Caller, callerId, workspaceOf } from './caller.ts';

const maxKeyLength = 200;

/** Throws BAD_REQUEST for an `Idempotency-Key` that is empty or longer than 200 characters. */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || (key.length > 0 && key.length <= maxKeyLength)) return;
  const message = `must have 1 to ${maxKeyLength} characters`;
  throw new ApiError('BAD_REQUEST', { message: `Idempotency-Key: ${message}`, data: { issues: [{ path: ['Idempotency-Key'], message }] } });
}

/** The parts of a handler's context that idempotency needs. */
interface IdempotentCall {
  caller: Caller;
  input: unknown;
  request: { idempotencyKey: string | undefined };
  authorize: Authorize;
}

/** Runs an effect in one transaction. Returns its result, or that of a faster request with the same key. */
type Once<T> = (effect: (trx: Transaction) => Promise<T>) => Promise<T>;

/**
 * Runs a route's effect at most once for the request's `Idempotency-Key` (docs/rules.md, idempotency). `perform` reads the rows of the
 * effect, authorizes by them, and calls `once`. A repeated request is authorized in the organization of the first result and gets it,
 * without `perform`, whose rows may be gone. The whole result is stored.
 */
export async function withIdempotency<T extends { organizationId: string }>(
  db: Db,
  route: AnyRoute,
  { caller, input, request, authorize }: IdempotentCall,
  perform: (once: Once<T>) => Promise<T>,
): Promise<T> {
  const scope = { userId: callerId(caller), operation: route.metadata.operation, key: request.idempotencyKey, request: input };
  const first = await findRecord<T>(db, scope);
  if (!first) return await perform((effect) => inTransaction(db, (trx) => runOnce(trx, scope, () => effect(trx))));
  // An API key gets only results of its own requests, in its own workspace.
  await authorize(first.organizationId, workspaceOf(caller));
  return first;
}
