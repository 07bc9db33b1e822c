import { sql } from 'kysely';
import Stripe from 'stripe';
import type { Payments } from './payments.ts';
import { dateOf } from './plans.ts';

/** A subscription as Stripe returned it, and the number of the request. */
export interface FetchedSubscription {
  /** Taken from the database before Stripe was asked (docs/rules.md, the provider's answer). */
  fetch: number;
  subscription: Stripe.Subscription;
  /** When the first unpaid renewal was due. */
  pastDueSince: Date | null;
}

/** Fetches a subscription from Stripe; undefined if there is none with this id. Call it outside of transactions. */
export async function fetchSubscription(
  { db, stripe }: Pick<Payments, 'db' | 'stripe'>,
  id: string,
): Promise<FetchedSubscription | undefined> {
  const { rows } = await sql<{ fetch: number }>`select nextval('subscription_fetch') as fetch`.execute(db);
  const subscription = await stripe.subscriptions.retrieve(id).catch(orMissing);
  if (!subscription) return undefined;
  return { fetch: Number(rows[0]?.fetch), subscription, pastDueSince: await findUnpaidRenewal(stripe, subscription) };
}

/**
 * Finds when the first unpaid renewal was due: one that is charged by itself when it was made, one that is sent on its day. Other invoices,
 * such as for an upgrade in the middle of a period, do not change what was paid.
 */
async function findUnpaidRenewal(stripe: Stripe, { id, status }: Stripe.Subscription): Promise<Date | null> {
  if (status !== 'past_due' && status !== 'unpaid') return null;
  const { data } = await stripe.invoices.list({ subscription: id, status: 'open', limit: 100 });
  const renewals = data
    .filter(({ billing_reason }) => billing_reason === 'subscription_cycle')
    .map(({ created, due_date }) => due_date ?? created);
  return renewals.length === 0 ? null : dateOf(Math.min(...renewals));
}

/** Returns undefined for the error that Stripe has no such object, and throws any other error. */
export function orMissing(error: unknown): undefined {
  if (error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing') return undefined;
  throw error;
}
