import type Stripe from 'stripe';
import { countMembers } from '../domain/billing/count-members.ts';
import type { Purchase } from './buy-plan.ts';
import type { Payments } from './payments.ts';
import { changesTo, idOf, readItems } from './plans.ts';
import { syncSubscription } from './sync-subscription.ts';

export type PlanChange = { url: string } | { refused: 'ALREADY_SUBSCRIBED_PLAN' | 'SUBSCRIPTION_NOT_FOUND' };

type Change = Purchase & { customer: string; subscription: Stripe.Subscription };

const madeHere = new Set(['sheaf', '@better-auth/stripe']);

/**
 * Changes the plan of a live subscription. An unpaid one is not changed; its customer is sent to the portal to pay first. Returns the URL
 * to send the customer to.
 */
export async function changePlan(payments: Payments, change: Change): Promise<PlanChange> {
  const { subscription, plan, quantity, customer, urls } = change;
  const current = readItems(subscription, payments.plans);
  const sameQuantity = plan.seatPriceId !== undefined || quantity === undefined || current.item?.quantity === quantity;
  const isSame = current.plan?.name === plan.name && sameQuantity;
  if (isSame && subscription.status === 'active') return { refused: 'ALREADY_SUBSCRIBED_PLAN' };
  if (isSame || (subscription.status !== 'active' && subscription.status !== 'trialing')) {
    return { url: await openPortal(payments, { customer, return_url: urls.return }) };
  }
  await releaseSchedule(payments, subscription);
  const members = await countMembers(payments.db, change.organization.id);
  const items = changesTo(plan, subscription, { plans: payments.plans, members, quantity });
  const [only] = items;
  if (change.atPeriodEnd) await schedule(payments, subscription, items);
  else if (items.length === 1 && only?.id && subscription.items.data.length === 1)
    return { url: await confirmInPortal(payments, change, only) };
  // The portal changes no subscription of several items.
  else await payments.stripe.subscriptions.update(subscription.id, { items, proration_behavior: 'create_prorations' });
  await syncSubscription(payments, subscription.id);
  return { url: urls.return };
}

export async function openPortal({ stripe }: Payments, params: Stripe.BillingPortal.SessionCreateParams): Promise<string> {
  return (await stripe.billingPortal.sessions.create(params)).url;
}

function confirmInPortal(
  payments: Payments,
  { customer, subscription, urls }: Change,
  { id = '', price = '', quantity = 1 }: Stripe.SubscriptionUpdateParams.Item,
): Promise<string> {
  return openPortal(payments, {
    customer,
    return_url: urls.return,
    flow_data: {
      type: 'subscription_update_confirm',
      after_completion: { type: 'redirect', redirect: { return_url: urls.return } },
      subscription_update_confirm: { subscription: subscription.id, items: [{ id, price, quantity }] },
    },
  });
}

/**
 * Takes back a change that was planned for the end of the period; whether there was one. One that was planned elsewhere stays, but not a
 * schedule that plans nothing: a process that died between making one and planning leaves it, and a subscription can have only one.
 */
export async function releaseSchedule({ stripe }: Payments, { schedule }: Stripe.Subscription): Promise<boolean> {
  const id = idOf(schedule);
  if (!id) return false;
  const { status, metadata, phases, end_behavior } = await stripe.subscriptionSchedules.retrieve(id);
  const plansNothing = phases.length < 2 && end_behavior === 'release';
  if (status !== 'active' || !(plansNothing || madeHere.has(metadata?.source ?? ''))) return false;
  await stripe.subscriptionSchedules.release(id);
  return true;
}

async function schedule(
  { stripe }: Payments,
  subscription: Stripe.Subscription,
  changes: Stripe.SubscriptionUpdateParams.Item[],
): Promise<void> {
  const { id, phases } = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id });
  const [running] = phases;
  if (!running) throw new Error(`The schedule ${id} has no phase`);
  const now = running.items.map(({ price, quantity }) => ({ price: idOf(price) ?? '', ...(quantity !== undefined && { quantity }) }));
  await stripe.subscriptionSchedules.update(id, {
    metadata: { source: 'sheaf' },
    end_behavior: 'release',
    phases: [
      { items: now, start_date: running.start_date, end_date: running.end_date },
      { items: itemsAfter(subscription, changes), start_date: running.end_date, proration_behavior: 'none' },
    ],
  });
}

function itemsAfter(subscription: Stripe.Subscription, changes: Stripe.SubscriptionUpdateParams.Item[]) {
  const added = changes.filter(({ id }) => id === undefined);
  const kept = subscription.items.data.flatMap(({ id, price, quantity = 1 }) => {
    const change = changes.find((each) => each.id === id);
    return change?.deleted ? [] : [{ price: change?.price ?? price.id, quantity: change?.quantity ?? quantity }];
  });
  return [...kept, ...added.map(({ price = '', quantity = 1 }) => ({ price, quantity }))];
}
