import type Stripe from 'stripe';
import type { Payments } from './payments.ts';
import { idOf } from './plans.ts';

const madeHere = new Set(['sheaf', '@better-auth/stripe']);

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

/**
 * Takes a subscription out of its schedule, whoever planned what: Stripe refuses to end one with its period while it is in a schedule. Changes
 * nothing if there is none. Throws Stripe's errors.
 */
export async function detachSchedule({ stripe }: Pick<Payments, 'stripe'>, { schedule }: Stripe.Subscription): Promise<void> {
  const id = idOf(schedule);
  if (id) await stripe.subscriptionSchedules.release(id);
}

/** Plans changes of a subscription's items for the end of its period. It has no schedule yet. Throws Stripe's errors. */
export async function scheduleChange(
  { stripe }: Payments,
  subscription: Stripe.Subscription,
  changes: Stripe.SubscriptionUpdateParams.Item[],
): Promise<void> {
  const { id, phases } = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id });
  const [running] = phases;
  if (!running) throw new Error(`The schedule ${id} has no phase`);
  const now = running.items.map(({ price, quantity }) => ({ price: idOf(price) ?? '', ...(quantity !== undefined && { quantity }) }));
  // What a phase does not name, it loses.
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

/** The same discount, which begins no new one; else what it was made of. */
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
