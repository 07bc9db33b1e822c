import type Stripe from 'stripe';
import { orMissing } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { isLiveStatus, readItems, type SoldPlan } from './plans.ts';
import { detachSchedule } from './schedules.ts';
import { syncSubscription } from './sync-subscription.ts';

/**
 * The live subscriptions of a customer to plans of ours, as Stripe lists them now. First is the one that goes on if they are several: one
 * that is paid before a trial, and both before one that is unpaid; then one that does not end; then the best plan, then the oldest.
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
 * Of several subscriptions of a customer that renew, of which a checkout sold one, the first of {@link listLive} goes on. The others end
 * with their period or trial; a refund is an operator's. What was begun in Stripe's dashboard alone is left as it is. Throws if Stripe
 * fails; running it again is harmless.
 */
export async function endDuplicates(payments: Payments, customer: string): Promise<void> {
  const renewing = (await listLive(payments, customer)).filter(isRenewing);
  // A checkout of ours writes it.
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

/** The best plan is the last one that is sold. */
function rankOf(subscription: Stripe.Subscription, plans: SoldPlan[]): number {
  return -plans.findIndex(({ name }) => name === readItems(subscription, plans).plan?.name);
}

function compare(one: number[], other: number[]): number {
  const differs = one.findIndex((value, index) => value !== other[index]);
  return differs < 0 ? 0 : (one[differs] ?? 0) - (other[differs] ?? 0);
}
