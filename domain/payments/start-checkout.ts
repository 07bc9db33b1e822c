import { sql } from 'kysely';
import type Stripe from 'stripe';
import { countMembers } from '../billing/count-members.ts';
import { expireCheckout, listOpenCheckouts } from './customers.ts';
import type { Payments } from './payments.ts';
import type { Purchase } from './purchase.ts';

/**
 * Begins a checkout, and closes the customer's others, because two could both be paid. Of concurrent ones the last stays, by a number from
 * the database: each request begins its own and then closes the others. Returns the open one, also another member's if it sells the same;
 * undefined if it sells something else.
 */
export async function startCheckout(
  payments: Payments,
  customer: string,
  purchase: Purchase,
): Promise<Stripe.Checkout.Session | undefined> {
  const { organization, userId, urls, locale, metadata } = purchase;
  const names = { ...metadata, userId, referenceId: organization.id };
  const sold = await lineItems(payments, purchase);
  const own = await payments.stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    customer_update: { address: 'auto' },
    ...(locale && { locale: locale as Stripe.Checkout.SessionCreateParams.Locale }),
    success_url: urls.success,
    cancel_url: urls.cancel,
    client_reference_id: organization.id,
    line_items: sold,
    metadata: { ...names, sold: JSON.stringify(sold), begun: await nextNumber(payments) },
    subscription_data: { metadata: names },
  });
  const open = await listOpenCheckouts(payments, customer);
  const last = [own, ...open].reduce((one, other) => (numberOf(other) > numberOf(one) ? other : one));
  // Closes only the listed ones: a checkout that begins after that is later than this one, and closes it.
  for (const { id } of open) if (id !== last.id) await expireCheckout(payments, id);
  return last.id === own.id || last.metadata?.sold === own.metadata?.sold ? last : undefined;
}

/** The database's order, not that of clocks (docs/rules.md, the database's clock). */
async function nextNumber({ db }: Payments): Promise<string> {
  const { rows } = await sql<{ next: string }>`select nextval('subscription_fetch')::text as next`.execute(db);
  return rows[0]?.next ?? '';
}

function numberOf({ metadata }: Stripe.Checkout.Session): number {
  return Number(metadata?.begun ?? 0);
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
