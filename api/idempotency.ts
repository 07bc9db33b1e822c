import type { AnyRoute } from '../contract/route.ts';
import type { Transaction } from '../db/connect.ts';
import type { OutboxMessage } from '../db/outbox.ts';
import { inTransaction } from '../db/transaction.ts';
import { runOnce } from '../domain/idempotency/run-once.ts';
import type { ApiDeps } from './deps.ts';
import type { HandlerContext } from './procedure.ts';

/**
 * Runs a route's effect in one transaction, at most once for the request's `Idempotency-Key`, and hands its messages to
 * Temporal after the commit. Answers what the effect answered, the first time or now.
 */
export async function effectOnce<T extends object>(
  deps: ApiDeps,
  route: AnyRoute,
  { caller, input, request }: Pick<HandlerContext<unknown>, 'caller' | 'input' | 'request'>,
  effect: (trx: Transaction) => Promise<{ answer: T; messages: OutboxMessage[] }>,
): Promise<T> {
  const key = request.idempotencyKey;
  const { record, messages } = await inTransaction(deps.db, async (trx) => {
    let messages: OutboxMessage[] = [];
    const scope = { userId: caller.userId, operation: route.metadata.operation, key, request: input };
    const { record } = await runOnce(trx, scope, async () => {
      const done = await effect(trx);
      messages = done.messages;
      return done.answer;
    });
    return { record, messages };
  });
  deps.dispatch(messages);
  return record;
}
