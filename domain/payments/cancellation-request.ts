import { sql } from 'kysely';
import type Stripe from 'stripe';
import { actorQuery } from '../../db/actor.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import type { SubscriptionRow } from '../billing/find-subscription.ts';

/**
 * Records who cancels a subscription before Stripe is asked, so that storing Stripe's answer audits it, even if the process of the request
 * has died. Returns whether an earlier request is recorded whose outcome is unknown.
 */
export async function requestCancellation(
  db: Db,
  id: string,
  { actor, immediately }: { actor: Actor; immediately: boolean },
): Promise<boolean> {
  const values = { actor: JSON.stringify(actor), immediately, requested_at: sql<Date>`now()` };
  const { repeated } = await db
    .insertInto('subscription_cancellation')
    .values({ subscription_id: id, ...values })
    .onConflict((conflict) => conflict.column('subscription_id').doUpdateSet(values))
    .returning(sql<boolean>`xmax::text <> '0'`.as('repeated'))
    .executeTakeFirstOrThrow();
  return repeated;
}

/** Forgets a cancellation that Stripe did not carry out. */
export async function forgetCancellation(db: Db, id: string): Promise<void> {
  await db.deleteFrom('subscription_cancellation').where('subscription_id', '=', id).execute();
}

/** Forgets requests that never reached Stripe. */
export async function forgetOldCancellations(db: Db): Promise<void> {
  await db.deleteFrom('subscription_cancellation').where('requested_at', '<', sql<Date>`now() - interval '24 hours'`).execute();
}

/**
 * Audits a requested cancellation once Stripe says that it happened. Call it before the row is changed: the trigger that audits the change
 * uses the same actor.
 */
export async function recordCancellation(trx: Transaction, row: SubscriptionRow, subscription: Stripe.Subscription): Promise<void> {
  const hasEnded = subscription.status === 'canceled';
  if (!hasEnded && !subscription.cancel_at_period_end) return;
  const asked = await trx
    .deleteFrom('subscription_cancellation')
    .where('subscription_id', '=', row.id)
    .$if(!hasEnded, (query) => query.where('immediately', '=', false))
    .returning(['actor', 'immediately'])
    .executeTakeFirst();
  if (!asked) return;
  await trx.executeQuery(actorQuery(asked.actor));
  await recordAudit(trx, asked.actor, {
    organizationId: row.referenceId,
    action: 'subscription.cancel',
    targetId: row.id,
    metadata: { plan: row.plan, immediately: asked.immediately },
  });
}
