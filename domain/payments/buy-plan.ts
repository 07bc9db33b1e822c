import type Stripe from 'stripe';
import { changePlan, type PlanChange } from './change-plan.ts';
import { ensureCustomer, expireCheckouts } from './customers.ts';
import { endDuplicates, listLive } from './live-subscriptions.ts';
import type { Payments } from './payments.ts';
import type { Purchase } from './purchase.ts';
import { startCheckout } from './start-checkout.ts';

/** `CHECKOUT_REPLACED`: another member began a checkout for something else at the same moment, which stays open. */
type PurchaseResult = { checkout: Stripe.Checkout.Session } | PlanChange | { refused: 'CHECKOUT_REPLACED' };

/**
 * Sells a plan to an organization, by a checkout or by changing the subscription that it has. To avoid a second one, reads the live
 * subscriptions from Stripe instead of the rows, and updates the rows. Throws NOT_FOUND if the organization is being deleted, and Stripe's
 * errors.
 */
export async function buyPlan(payments: Payments, purchase: Purchase): Promise<PurchaseResult> {
  const customer = await ensureCustomer(payments, purchase.organization);
  const changed = await changeLive(payments, customer, purchase);
  if (changed) return changed;
  const checkout = await startCheckout(payments, customer, purchase);
  // An earlier open checkout may have been paid before it was closed.
  if ((await listLive(payments, customer)).length > 0) {
    await expireCheckouts(payments, customer);
    return (await changeLive(payments, customer, purchase)) ?? { refused: 'SUBSCRIPTION_NOT_FOUND' };
  }
  return checkout ? { checkout } : { refused: 'CHECKOUT_REPLACED' };
}

/** Changes the live subscription; of several, the first of {@link listLive}. Returns undefined if there is none and none was named. */
async function changeLive(payments: Payments, customer: string, purchase: Purchase): Promise<PlanChange | undefined> {
  const { subscriptionId } = purchase;
  const live = await listLive(payments, customer);
  if (subscriptionId === undefined && live.length > 1) await endDuplicates(payments, customer);
  const current = subscriptionId === undefined ? live[0] : live.find(({ id }) => id === subscriptionId);
  if (current) return await changePlan(payments, { ...purchase, customer, subscription: current });
  return subscriptionId === undefined ? undefined : { refused: 'SUBSCRIPTION_NOT_FOUND' };
}
