import type Stripe from 'stripe';
import { orMissing } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { isLiveStatus, readItems, type SoldPlan } from './plans.ts';
import { detachSchedule } from './schedules.ts';
import { syncSubscription } from './sync-subscription.ts';

/**
 * The live subscriptions of a customer to plans of ours, as Stripe lists them now. The first one goes on if there are several: a paid one
 * before a trial, a trial before an unpaid one; then one that does not end; then the best plan; then the oldest.
 */
export async function listLive({ stripe, plans }: Payments, customer: string): Promise<Stripe.Subscription[]> {
  const all = await listAll({ stripe }, customer);
  const found = all.filter((each) => isLiveStatus(each.status) && readItems(each, plans).plan);
  const rank = ({ status }: Stripe.Subscription) => (status === 'active' ? 0 : status === 'trialing' ? 1 : 2);
  const orderOf = (each: Stripe.Subscription) => [rank(each), Number(!isRenewing(each)), rankOf(each, plans), each.created];
  return found.sort((one, other) => compare(orderOf(one), orderOf(other)) || (one.id < other.id ? -1 : 1));
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

/** The rank of its plan: plans are sold in ascending order. */
function rankOf(subscription: Stripe.Subscription, plans: SoldPlan[]): number {
  return -plans.findIndex(({ name }) => name === readItems(subscription, plans).plan?.name);
}

function compare(one: number[], other: number[]): number {
  const differs = one.findIndex((value, index) => value !== other[index]);
  return differs < 0 ? 0 : (one[differs] ?? 0) - (other[differs] ?? 0);
}
