import type Stripe from 'stripe';
import { countMembers } from '../billing/count-members.ts';
import { openPortal } from './open-portal.ts';
import type { Payments } from './payments.ts';
import { changesTo, readItems } from './plans.ts';
import type { Purchase } from './purchase.ts';
import { releaseSchedule, scheduleChange } from './schedules.ts';
import { syncSubscription } from './sync-subscription.ts';

export type PlanChange = { url: string } | { refused: 'ALREADY_SUBSCRIBED_PLAN' | 'SUBSCRIPTION_NOT_FOUND' };

type Change = Purchase & { customer: string; subscription: Stripe.Subscription };

/**
 * Changes the plan of a live subscription. An unpaid one is not changed: its customer must pay in the portal first. Returns the URL to send
 * the customer to.
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
  const wasScheduled = await releaseSchedule(payments, subscription);
  const members = await countMembers(payments.db, change.organization.id);
  const items = changesTo(plan, subscription, { plans: payments.plans, members, quantity });
  const [only] = items;
  if (change.atPeriodEnd) await scheduleChange(payments, subscription, items);
  else if (!wasScheduled && items.length === 1 && only?.id && subscription.items.data.length === 1)
    return { url: await confirmInPortal(payments, change, only) };
  // The portal cannot change subscriptions with several items, and there nobody might confirm what replaces a planned change.
  else await payments.stripe.subscriptions.update(subscription.id, { items, proration_behavior: 'create_prorations' });
  await syncSubscription(payments, subscription.id);
  return { url: urls.return };
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
