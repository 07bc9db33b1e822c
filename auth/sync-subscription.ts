import type { StripePlan } from '@better-auth/stripe';
import { generateId } from 'better-auth';
import { type Selectable, sql } from 'kysely';
import type Stripe from 'stripe';
import type { Db, Transaction } from '../db/connect.ts';
import type { Database } from '../db/schema.ts';

interface Dependencies {
  db: Db;
  stripe: Stripe;
  plans: StripePlan[];
}

/**
 * Overwrites a subscription's row with what Stripe says of it now, whatever the event said and in whatever order events come.
 * Events of anything else are noted and change nothing. Throws when Stripe or the database fails; running it again is harmless.
 */
export async function syncSubscription({ db, stripe, plans }: Dependencies, event: Stripe.Event): Promise<void> {
  const subscriptionId = subscriptionOf(event);
  const askedAt = new Date();
  const subscription = subscriptionId === undefined ? undefined : await stripe.subscriptions.retrieve(subscriptionId);
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('stripe_event')
      .values({ id: event.id, type: event.type })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    if (subscription) await store(trx, subscription, { plans, askedAt });
  });
}

function subscriptionOf(event: Stripe.Event): string | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
      return idOf(event.data.object.subscription);
    case 'invoice.payment_failed':
      return idOf(event.data.object.parent?.subscription_details?.subscription);
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
    case 'customer.subscription.trial_will_end':
      return event.data.object.id;
    default:
      return undefined;
  }
}

async function store(trx: Transaction, subscription: Stripe.Subscription, options: { plans: StripePlan[]; askedAt: Date }): Promise<void> {
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

function idOf(reference: string | { id: string } | null | undefined): string | undefined {
  return typeof reference === 'string' ? reference : reference?.id;
}

function dateOf(seconds: number | null | undefined): Date | null {
  return seconds ? new Date(seconds * 1000) : null;
}
