import type { AnyRoute } from '../contract/route.ts';
import type { Transaction } from '../db/connect.ts';
import type { OutboxMessage } from '../db/outbox.ts';
import { inTransaction } from '../db/transaction.ts';
import { findRecord, runOnce } from '../domain/idempotency/run-once.ts';
import type { ApiDeps } from './deps.ts';
import type { HandlerContext } from './procedure.ts';

/** What a route does at most once. */
export interface Once<Row, T> {
  /** Reads the rows that the effect starts from, and authorizes by them. Not asked on a replay: they may be gone by then. */
  admit(): Promise<Row>;
  effect(trx: Transaction, row: Row): Promise<{ answer: T; messages: OutboxMessage[] }>;
}

/**
 * Runs a route's effect in one transaction, at most once for the request's `Idempotency-Key`, and hands its messages to
 * Temporal after the commit. Returns what the effect answered, the first time or now. A replay is authorized in the organization
 * of the first answer.
 */
export async function effectOnce<Row, T extends { organizationId: string }>(
  deps: ApiDeps,
  route: AnyRoute,
  { caller, input, request, authorize }: Pick<HandlerContext<unknown>, 'caller' | 'input' | 'request' | 'authorize'>,
  { admit, effect }: Once<Row, T>,
): Promise<T> {
  const scope = { userId: caller.userId, operation: route.metadata.operation, key: request.idempotencyKey, request: input };
  const first = await findRecord<T>(deps.db, scope);
  if (first) {
    await authorize(first.organizationId);
    return first;
  }
  const row = await admit();
  const { record, messages } = await inTransaction(deps.db, async (trx) => {
    let messages: OutboxMessage[] = [];
    const { record } = await runOnce(trx, scope, async () => {
      const done = await effect(trx, row);
      messages = done.messages;
      return done.answer;
    });
    return { record, messages };
  });
  deps.dispatch(messages);
  return record;
}
