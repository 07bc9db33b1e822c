import type Stripe from 'stripe';
import type { Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { SubscriptionRow } from '../billing/find-subscription.ts';
import { notifyPaymentFailed } from '../billing/notify-payment-failed.ts';
import { expireCheckouts } from './customers.ts';
import { orMissing } from './fetch-subscription.ts';
import { endDuplicates } from './live-subscriptions.ts';
import type { Payments } from './payments.ts';
import { idOf } from './plans.ts';
import { syncSubscription } from './sync-subscription.ts';

/**
 * Handles an event of Stripe, which only says which subscription and invoice to fetch. Other events are recorded and change nothing. Throws
 * if Stripe or the database fails, so that Stripe sends the event again; handling one twice is harmless.
 */
export async function takeEvent(payments: Payments, event: Stripe.Event): Promise<void> {
  const subscriptionId = subscriptionOf(event);
  if (subscriptionId === undefined) return await inTransaction(payments.db, (trx) => noteEvent(trx, event));
  const unpaid = await findUnpaidInvoice(payments, event);
  const stored = await syncSubscription(payments, subscriptionId, async (trx, row) => {
    await noteEvent(trx, event);
    if (unpaid) await notifyOwners(trx, unpaid, row);
  });
  if (event.type === 'checkout.session.completed' && stored?.stripeCustomerId) await sellNoMore(payments, stored.stripeCustomerId);
}

/** Closes other checkouts of a customer who has paid, and ends duplicate subscriptions soon. */
async function sellNoMore(payments: Payments, customer: string): Promise<void> {
  await expireCheckouts(payments, customer);
  await endDuplicates(payments, customer);
}

async function noteEvent(trx: Transaction, { id, type }: Stripe.Event): Promise<void> {
  await trx
    .insertInto('stripe_event')
    .values({ id, type })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * The invoice whose payment failed, if the owners get a mail and it is still unpaid, since an event may come late. A failed first payment
 * of a subscription is left out: the payer sees it in the checkout.
 */
async function findUnpaidInvoice({ stripe, sendsMail }: Payments, event: Stripe.Event): Promise<Stripe.Invoice | undefined> {
  if (event.type !== 'invoice.payment_failed' || !sendsMail) return undefined;
  const { id, billing_reason } = event.data.object;
  if (!id || billing_reason === 'subscription_create') return undefined;
  const invoice = await stripe.invoices.retrieve(id).catch(orMissing);
  return invoice?.status === 'open' ? invoice : undefined;
}

async function notifyOwners(trx: Transaction, invoice: Stripe.Invoice, row: SubscriptionRow | undefined): Promise<void> {
  // Its price may be of something else.
  if (!row || row.plan === 'free') return;
  const { id: invoiceId, hosted_invoice_url: url } = invoice;
  await notifyPaymentFailed(trx, { invoiceId, organizationId: row.referenceId, plan: row.plan, url: url ?? null });
}

function subscriptionOf(event: Stripe.Event): string | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
      return idOf(event.data.object.subscription);
    // The time since which a subscription is unpaid changes with its oldest invoice, without an event of the subscription.
    case 'invoice.marked_uncollectible':
    case 'invoice.paid':
    case 'invoice.payment_failed':
    case 'invoice.voided':
      return idOf(event.data.object.parent?.subscription_details?.subscription);
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
    case 'customer.subscription.paused':
    case 'customer.subscription.resumed':
    case 'customer.subscription.trial_will_end':
      return event.data.object.id;
    default:
      return undefined;
  }
}
