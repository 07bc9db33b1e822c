import type Stripe from 'stripe';
import type { Payments } from './payments.ts';
import { idOf } from './plans.ts';

const madeHere = new Set(['sheaf', '@better-auth/stripe']);

/**
 * Revokes a change that is scheduled for the end of the period. Returns whether there was one. Keeps changes that were scheduled elsewhere,
 * but removes empty schedules, which a crash may leave, since a subscription can have only one schedule.
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

/**
 * Releases a subscription from any schedule, because Stripe refuses to end a scheduled one with its period. Does nothing without a
 * schedule. Throws Stripe's errors.
 */
export async function detachSchedule({ stripe }: Pick<Payments, 'stripe'>, { schedule }: Stripe.Subscription): Promise<void> {
  const id = idOf(schedule);
  if (id) await stripe.subscriptionSchedules.release(id);
}

/** Schedules changes of a subscription's items for the end of its period. It must have no schedule yet. Throws Stripe's errors. */
export async function scheduleChange(
  { stripe }: Payments,
  subscription: Stripe.Subscription,
  changes: Stripe.SubscriptionUpdateParams.Item[],
): Promise<void> {
  const { id, phases } = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id });
  const [running] = phases;
  if (!running) throw new Error(`The schedule ${id} has no phase`);
  const now = running.items.map(({ price, quantity }) => ({ price: idOf(price) ?? '', ...(quantity !== undefined && { quantity }) }));
  // A phase drops everything that it does not name.
  const discounts = running.discounts?.length ? { discounts: running.discounts.map(toDiscount) } : {};
  const trial = running.trial_end ? { trial_end: running.trial_end } : {};
  await stripe.subscriptionSchedules.update(id, {
    metadata: { source: 'sheaf' },
    end_behavior: 'release',
    phases: [
      { items: now, start_date: running.start_date, end_date: running.end_date, ...trial, ...discounts },
      { items: itemsAfter(subscription, changes), start_date: running.end_date, proration_behavior: 'none', ...discounts },
    ],
  });
}

/** The same discount by its id, which does not begin a new one; otherwise by its coupon or promotion code. */
function toDiscount({ discount, coupon, promotion_code }: Stripe.SubscriptionSchedule.Phase.Discount) {
  const [same, made, code] = [idOf(discount), idOf(coupon), idOf(promotion_code)];
  return same ? { discount: same } : code ? { promotion_code: code } : { coupon: made ?? '' };
}

function itemsAfter(subscription: Stripe.Subscription, changes: Stripe.SubscriptionUpdateParams.Item[]) {
  const added = changes.filter(({ id }) => id === undefined);
  const kept = subscription.items.data.flatMap(({ id, price, quantity = 1 }) => {
    const change = changes.find((each) => each.id === id);
    return change?.deleted ? [] : [{ price: change?.price ?? price.id, quantity: change?.quantity ?? quantity }];
  });
  return [...kept, ...added.map(({ price = '', quantity = 1 }) => ({ price, quantity }))];
}
