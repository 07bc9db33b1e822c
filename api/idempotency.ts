import type { AnyRoute } from '../contract/route.ts';
import type { Transaction } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import { runOnce } from '../domain/idempotency/run-once.ts';
import type { ApiDeps } from './deps.ts';
import type { HandlerContext } from './procedure.ts';

/**
 * Runs a route's effect in one transaction, at most once for the request's `Idempotency-Key`. Returns what the effect returned, the
 * first time or now.
 */
export async function effectOnce<T extends object>(
  deps: ApiDeps,
  route: AnyRoute,
  { caller, input, request }: Pick<HandlerContext<unknown>, 'caller' | 'input' | 'request'>,
  effect: (trx: Transaction) => Promise<T>,
): Promise<T> {
  const scope = { userId: caller.userId, operation: route.metadata.operation, key: request.idempotencyKey, request: input };
  const { record } = await inTransaction(deps.db, (trx) => runOnce(trx, scope, () => effect(trx)));
  return record;
}
