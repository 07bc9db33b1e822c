import type Stripe from 'stripe';
import { byRelevance } from '../billing/live-subscription.ts';
import { orMissing } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { isLiveStatus, readItems } from './plans.ts';
import { detachSchedule } from './schedules.ts';
import { syncSubscription } from './sync-subscription.ts';

/**
 * The live subscriptions of a customer to plans of ours, as Stripe lists them now, in the order of {@link byRelevance}. Updates their
 * rows.
 */
export async function listLive(payments: Payments, customer: string): Promise<Stripe.Subscription[]> {
  const all = await listAll(payments, customer);
  const live = all.filter((each) => isLiveStatus(each.status) && readItems(each, payments.plans).plan);
  for (const { id } of live) await syncSubscription(payments, id);
  const rows = await payments.db
    .selectFrom('subscription')
    .select('stripeSubscriptionId')
    .where('stripeCustomerId', '=', customer)
    .orderBy(byRelevance)
    .execute();
  return rows.flatMap(({ stripeSubscriptionId }) => live.find(({ id }) => id === stripeSubscriptionId) ?? []);
}

/** The subscriptions of a customer in every status, of other products too; none if Stripe has no such customer. */
export async function listAll({ stripe }: Pick<Payments, 'stripe'>, customer: string): Promise<Stripe.Subscription[]> {
  const subscriptions = stripe.subscriptions.list({ customer, status: 'all', limit: 100 });
  return (await subscriptions.autoPagingToArray({ limit: 1_000 }).catch(orMissing)) ?? [];
}

/**
 * If a customer has several renewing subscriptions and a checkout sold one of them, ends all but the first of {@link listLive} with their
 * period or trial; refunds are up to an operator. Leaves subscriptions alone that were all made in Stripe's dashboard. Throws if Stripe
 * fails; it can be repeated.
 */
export async function endDuplicates(payments: Payments, customer: string): Promise<void> {
  const renewing = (await listLive(payments, customer)).filter(isRenewing);
  // Only our checkouts write this field.
  if (!renewing.some(({ metadata }) => metadata.referenceId !== undefined)) return;
  for (const subscription of renewing.slice(1)) {
    await detachSchedule(payments, subscription);
    await payments.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
    await syncSubscription(payments, subscription.id);
  }
}

const paidStatuses = new Set<string>(['active', 'trialing', 'past_due']);

function isRenewing({ status, cancel_at, cancel_at_period_end }: Stripe.Subscription): boolean {
  return paidStatuses.has(status) && !cancel_at && !cancel_at_period_end;
}
