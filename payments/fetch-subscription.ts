import { sql } from 'kysely';
import Stripe from 'stripe';
import type { Payments } from './payments.ts';
import { dateOf } from './plans.ts';

/** What Stripe says of a subscription, and where that stands in the order of what was asked. */
export interface FetchedSubscription {
  /** Taken from the database before Stripe was asked (docs/rules.md, the provider's answer). */
  fetch: number;
  subscription: Stripe.Subscription;
  /** When the first renewal was due that is not paid. */
  pastDueSince: Date | null;
}

/** Asks Stripe for a subscription; undefined if Stripe has none of this id. Call it outside of transactions. */
export async function fetchSubscription(
  { db, stripe }: Pick<Payments, 'db' | 'stripe'>,
  id: string,
): Promise<FetchedSubscription | undefined> {
  const { rows } = await sql<{ fetch: number }>`select nextval('subscription_fetch') as fetch`.execute(db);
  const subscription = await stripe.subscriptions.retrieve(id).catch(orMissing);
  if (!subscription) return undefined;
  return { fetch: Number(rows[0]?.fetch), subscription, pastDueSince: await findUnpaidRenewal(stripe, subscription) };
}

/** Only a renewal ends a paid period: an invoice in the middle of one, as for an upgrade, says nothing about the period that was paid. */
async function findUnpaidRenewal(stripe: Stripe, { id, status }: Stripe.Subscription): Promise<Date | null> {
  if (status !== 'past_due' && status !== 'unpaid') return null;
  const { data } = await stripe.invoices.list({ subscription: id, status: 'open', limit: 100 });
  const renewals = data.filter(({ billing_reason }) => billing_reason === 'subscription_cycle').map(({ created }) => created);
  return renewals.length === 0 ? null : dateOf(Math.min(...renewals));
}

/** Undefined for Stripe's answer that there is no such object; throws any other error. */
export function orMissing(error: unknown): undefined {
  if (error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing') return undefined;
  throw error;
}
