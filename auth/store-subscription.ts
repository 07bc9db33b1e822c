import type { StripePlan } from '@better-auth/stripe';
import { generateId } from 'better-auth';
import { type Selectable, sql } from 'kysely';
import type Stripe from 'stripe';
import type { Transaction } from '../db/connect.ts';
import type { Database } from '../db/schema.ts';

/**
 * Overwrites the row of a subscription with what Stripe answered to a request that began at `askedAt`, unless the row holds a later
 * answer; makes the row where there is none.
 */
export async function storeSubscription(
  trx: Transaction,
  subscription: Stripe.Subscription,
  options: { plans: StripePlan[]; askedAt: Date },
): Promise<void> {
  const values = valuesOf(subscription, options.plans);
  const row = await findRow(trx, subscription);
  if (row) {
    await trx
      .updateTable('subscription')
      .set({ ...values, syncedAt: options.askedAt })
      .where('id', '=', row.id)
      .where((eb) => eb.or([eb('syncedAt', 'is', null), eb('syncedAt', '<=', options.askedAt)]))
      .execute();
    return;
  }
  const organization = await findOrganization(trx, subscription);
  if (!organization || !values.plan) return;
  await trx
    .insertInto('subscription')
    .values({ ...values, id: generateId(), plan: values.plan, referenceId: organization, syncedAt: options.askedAt })
    .execute();
}

function valuesOf(subscription: Stripe.Subscription, plans: StripePlan[]) {
  const items = subscription.items.data;
  const plan = plans.find(({ priceId }) => items.some(({ price }) => price.id === priceId));
  const item = items.find(({ price }) => price.id === plan?.priceId) ?? items[0];
  const seats = items.find(({ price }) => price.id === plan?.seatPriceId) ?? item;
  return {
    ...(plan && { plan: plan.name }),
    status: subscription.status,
    stripeSubscriptionId: subscription.id,
    stripeCustomerId: idOf(subscription.customer) ?? null,
    periodStart: dateOf(item?.current_period_start),
    periodEnd: dateOf(item?.current_period_end),
    trialStart: dateOf(subscription.trial_start),
    trialEnd: dateOf(subscription.trial_end),
    cancelAtPeriodEnd: subscription.cancel_at_period_end,
    cancelAt: dateOf(subscription.cancel_at),
    canceledAt: dateOf(subscription.canceled_at),
    endedAt: dateOf(subscription.ended_at),
    seats: seats?.quantity ?? null,
    billingInterval: item?.price.recurring?.interval ?? null,
  };
}

/** The row of the subscription, else the one that its checkout began with. Locks it, so that two events take turns. */
async function findRow(
  trx: Transaction,
  subscription: Stripe.Subscription,
): Promise<Pick<Selectable<Database['subscription']>, 'id'> | undefined> {
  const begunAs = subscription.metadata.subscriptionId ?? null;
  return await trx
    .selectFrom('subscription')
    .select('id')
    .where((eb) =>
      eb.or([eb('stripeSubscriptionId', '=', subscription.id), eb.and([eb('id', '=', begunAs), eb('stripeSubscriptionId', 'is', null)])]),
    )
    .orderBy(sql`"stripeSubscriptionId" is null`)
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
}

async function findOrganization(trx: Transaction, subscription: Stripe.Subscription): Promise<string | undefined> {
  const customer = idOf(subscription.customer);
  if (!customer) return undefined;
  const row = await trx.selectFrom('organization').select('id').where('stripeCustomerId', '=', customer).executeTakeFirst();
  return row?.id;
}

/** The id of what Stripe refers to, whether it answers the id alone or the whole object. */
export function idOf(reference: string | { id: string } | null | undefined): string | undefined {
  return typeof reference === 'string' ? reference : reference?.id;
}

function dateOf(seconds: number | null | undefined): Date | null {
  return seconds ? new Date(seconds * 1000) : null;
}
