import type { StripePlan } from '@better-auth/stripe';
import type Stripe from 'stripe';
import type { Db } from '../db/connect.ts';
import { idOf, storeSubscription } from './store-subscription.ts';

interface Dependencies {
  db: Db;
  stripe: Stripe;
  plans: StripePlan[];
}

/**
 * Overwrites a subscription's row with what Stripe says of it now, whatever the event said and in whatever order events come.
 * Events of anything else are noted and change nothing. Throws when Stripe or the database fails; running it again is harmless.
 */
export async function syncSubscription({ db, stripe, plans }: Dependencies, event: Stripe.Event): Promise<void> {
  const subscriptionId = subscriptionOf(event);
  const askedAt = new Date();
  const subscription = subscriptionId === undefined ? undefined : await stripe.subscriptions.retrieve(subscriptionId);
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('stripe_event')
      .values({ id: event.id, type: event.type })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    if (subscription) await storeSubscription(trx, subscription, { plans, askedAt });
  });
}

function subscriptionOf(event: Stripe.Event): string | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
      return idOf(event.data.object.subscription);
    case 'invoice.payment_failed':
      return idOf(event.data.object.parent?.subscription_details?.subscription);
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
    case 'customer.subscription.trial_will_end':
      return event.data.object.id;
    default:
      return undefined;
  }
}
