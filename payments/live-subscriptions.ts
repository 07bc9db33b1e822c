import type Stripe from 'stripe';
import { orMissing } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { isLiveStatus, readItems, type SoldPlan } from './plans.ts';
import { detachSchedule } from './schedules.ts';
import { syncSubscription } from './sync-subscription.ts';

/** The live subscriptions of a customer to plans of ours, as Stripe lists them now; those that can be changed first. */
export async function listLive({ stripe, plans }: Payments, customer: string): Promise<Stripe.Subscription[]> {
  const all = await listAll({ stripe }, customer);
  const found = all.filter((each) => isLiveStatus(each.status) && readItems(each, plans).plan);
  const rank = ({ status }: Stripe.Subscription) => (status === 'active' || status === 'trialing' ? 0 : 1);
  return found.sort((one, other) => rank(one) - rank(other));
}

/** The subscriptions of a customer in every status, of other products too; none if Stripe has no such customer. */
export async function listAll({ stripe }: Pick<Payments, 'stripe'>, customer: string): Promise<Stripe.Subscription[]> {
  const subscriptions = stripe.subscriptions.list({ customer, status: 'all', limit: 100 });
  return (await subscriptions.autoPagingToArray({ limit: 1_000 }).catch(orMissing)) ?? [];
}

/**
 * Of several subscriptions that a customer bought at checkouts, one goes on: that of the best plan, else the oldest. The others end with
 * the period that was paid; the refund is an operator's. Those that were begun in Stripe's dashboard are left alone. Returns Stripe's ids
 * of what ends. Throws if Stripe fails; running it again is harmless.
 */
export async function endDuplicates(payments: Payments, customer: string): Promise<string[]> {
  const renewing = (await listLive(payments, customer)).filter(isRenewing);
  const [, ...rest] = renewing.sort(
    (one, other) =>
      rankOf(one, payments.plans) - rankOf(other, payments.plans) || one.created - other.created || (one.id < other.id ? -1 : 1),
  );
  for (const subscription of rest) {
    const { id } = subscription;
    await detachSchedule(payments, subscription);
    await payments.stripe.subscriptions.update(id, { cancel_at_period_end: true });
    await syncSubscription(payments, id);
  }
  return rest.map(({ id }) => id);
}

const paidStatuses = new Set<string>(['active', 'trialing', 'past_due']);

/** `referenceId` is what a checkout of ours writes. */
function isRenewing({ status, metadata, cancel_at, cancel_at_period_end }: Stripe.Subscription): boolean {
  return paidStatuses.has(status) && metadata.referenceId !== undefined && !cancel_at && !cancel_at_period_end;
}

/** The best plan is the last one that is sold. */
function rankOf(subscription: Stripe.Subscription, plans: SoldPlan[]): number {
  return -plans.findIndex(({ name }) => name === readItems(subscription, plans).plan?.name);
}
