import type Stripe from 'stripe';
import { countMembers } from '../domain/billing/count-members.ts';
import { changePlan, type PlanChange } from './change-plan.ts';
import { ensureCustomer, expireCheckouts, type Organization } from './customers.ts';
import { orMissing } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { isLiveStatus, readItems, type SoldPlan } from './plans.ts';
import { syncSubscription } from './sync-subscription.ts';

export interface Purchase {
  organization: Organization;
  userId: string;
  plan: SoldPlan;
  /** Stripe's id of the one to change, if the organization has several. */
  subscriptionId?: string | undefined;
  /** How many of the plan, if it does not bill its members. */
  quantity?: number | undefined;
  metadata?: Record<string, string> | undefined;
  locale?: string | undefined;
  /** At the end of the current period. */
  atPeriodEnd: boolean;
  urls: { success: string; cancel: string; return: string };
}

export type PurchaseResult = { checkout: Stripe.Checkout.Session } | PlanChange;

/**
 * Sells a plan to an organization, by a checkout or by changing the subscription that it has. To never open a second one, asks Stripe
 * for the live subscriptions, whatever the rows hold, and updates the rows. Throws NOT_FOUND if the organization is being deleted, and
 * Stripe's errors.
 */
export async function buyPlan(payments: Payments, purchase: Purchase): Promise<PurchaseResult> {
  const customer = await ensureCustomer(payments, purchase.organization);
  const live = await listLive(payments, customer);
  for (const { id } of live) await syncSubscription(payments, id);
  const { subscriptionId } = purchase;
  const current = subscriptionId === undefined ? live[0] : live.find(({ id }) => id === subscriptionId);
  if (subscriptionId !== undefined && !current) return { refused: 'SUBSCRIPTION_NOT_FOUND' };
  if (current) return await changePlan(payments, { ...purchase, customer, subscription: current });
  return { checkout: await startCheckout(payments, customer, purchase) };
}

/** The live subscriptions of a customer to plans of ours, those that can be changed first. */
async function listLive({ stripe, plans }: Payments, customer: string): Promise<Stripe.Subscription[]> {
  const found: Stripe.Subscription[] = [];
  const all = await stripe.subscriptions.list({ customer, status: 'all', limit: 100 }).autoPagingToArray({ limit: 1_000 }).catch(orMissing);
  for (const each of all ?? []) if (isLiveStatus(each.status) && readItems(each, plans).plan) found.push(each);
  const rank = ({ status }: Stripe.Subscription) => (status === 'active' || status === 'trialing' ? 0 : 1);
  return found.sort((one, other) => rank(one) - rank(other));
}

async function startCheckout(payments: Payments, customer: string, purchase: Purchase): Promise<Stripe.Checkout.Session> {
  const { organization, userId, urls, locale, metadata } = purchase;
  // If two checkouts were open, both could be paid.
  await expireCheckouts(payments, customer);
  const names = { ...metadata, userId, referenceId: organization.id };
  return await payments.stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    customer_update: { address: 'auto' },
    ...(locale && { locale: locale as Stripe.Checkout.SessionCreateParams.Locale }),
    success_url: urls.success,
    cancel_url: urls.cancel,
    client_reference_id: organization.id,
    line_items: await lineItems(payments, purchase),
    metadata: names,
    subscription_data: { metadata: names },
  });
}

async function lineItems(
  { db }: Payments,
  { plan, organization, quantity = 1 }: Purchase,
): Promise<Stripe.Checkout.SessionCreateParams.LineItem[]> {
  if (!plan.seatPriceId) return [{ price: plan.priceId, quantity }];
  const members = await countMembers(db, organization.id);
  const seats = { price: plan.seatPriceId, quantity: members };
  return plan.seatPriceId === plan.priceId ? [seats] : [{ price: plan.priceId, quantity: 1 }, seats];
}
