import type Stripe from 'stripe';
import type { Payments } from './payments.ts';

/** Opens a page of Stripe's portal for a customer, and returns its URL. Throws Stripe's errors. */
export async function openPortal({ stripe }: Payments, params: Stripe.BillingPortal.SessionCreateParams): Promise<string> {
  return (await stripe.billingPortal.sessions.create(params)).url;
}
