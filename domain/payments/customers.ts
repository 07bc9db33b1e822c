import { sql } from 'kysely';
import Stripe from 'stripe';
import { ApiError } from '../../contract/api-error.ts';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { resolveProblem } from '../billing/problems.ts';
import { lockOrganization } from '../locks.ts';
import { orMissing } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { syncSubscription } from './sync-subscription.ts';

export interface Organization {
  id: string;
  name: string;
  stripeCustomerId: string | null;
}

/**
 * Returns the customer of an organization at Stripe, and creates it if it is missing or deleted there. Concurrent requests, and a retry
 * after a crash between Stripe and the database, create only one customer. Its name follows (`syncCustomer`). Throws NOT_FOUND if the
 * organization is gone or is being deleted, and Stripe's error if Stripe does not know the customer.
 */
export async function ensureCustomer(payments: Payments, { id, stripeCustomerId: known }: Organization): Promise<string> {
  if (known) {
    await inTransaction(payments.db, (trx) => lockOrganization(trx, id));
    if (!(await isDeleted(payments, known))) return known;
    await syncSubscriptionsOf(payments, known);
  }
  const customer = (await findCustomer(payments, id)) ?? (await createCustomer(payments, id));
  try {
    return await storeCustomer(payments.db, { organizationId: id, customer, replaces: known });
  } catch (error) {
    // A deleted organization needs no customer. After any other error this customer may be stored, by another request or a commit whose
    // response was lost, and the next request finds it.
    if (error instanceof ApiError) await payments.stripe.customers.del(customer).catch(orMissing);
    throw error;
  }
}

/**
 * Stores a customer for an organization, unless another one than the replaced one is already stored. Returns the stored one. Throws
 * NOT_FOUND if the organization is gone or is being deleted.
 */
export async function storeCustomer(
  db: Db,
  { organizationId, customer, replaces = null }: { organizationId: string; customer: string; replaces?: string | null },
): Promise<string> {
  return await inTransaction(db, async (trx) => {
    await lockOrganization(trx, organizationId);
    const { stripeCustomerId } = await trx
      .updateTable('organization')
      .set({ stripeCustomerId: sql<string>`coalesce(nullif("stripeCustomerId", ${replaces}), ${customer})` })
      .where('id', '=', organizationId)
      .returning('stripeCustomerId')
      .executeTakeFirstOrThrow();
    if (replaces) await resolveProblem(trx, 'customer-deleted', replaces);
    // The problem's remedy would end a customer that is needed now.
    await resolveProblem(trx, 'customer-left', stripeCustomerId ?? customer);
    return stripeCustomerId ?? customer;
  });
}

/** Whether a customer was deleted at Stripe. Throws if Stripe does not know it at all, which may be due to the key. */
async function isDeleted({ stripe }: Pick<Payments, 'stripe'>, customer: string): Promise<boolean> {
  return (await stripe.customers.retrieve(customer)).deleted === true;
}

/** Updates the rows of a customer's subscriptions from Stripe: they ended with it, perhaps without an event. */
export async function syncSubscriptionsOf(payments: Payments, customer: string): Promise<void> {
  const rows = await payments.db
    .selectFrom('subscription')
    .select('stripeSubscriptionId')
    .where('stripeCustomerId', '=', customer)
    .where('status', 'not in', ['canceled', 'incomplete_expired'])
    .execute();
  for (const { stripeSubscriptionId } of rows) if (stripeSubscriptionId) await syncSubscription(payments, stripeSubscriptionId);
}

/** Finds the customer by Stripe's search, which knows objects older than a minute; an idempotency key covers newer ones. */
async function findCustomer({ stripe, log }: Payments, organizationId: string): Promise<string | undefined> {
  try {
    const query = `metadata["organizationId"]:"${organizationId}" AND metadata["customerType"]:"organization"`;
    const id = (await stripe.customers.search({ query, limit: 1 })).data[0]?.id;
    // The search may still find a customer that was just deleted.
    return id === undefined || (await isDeleted({ stripe }, id)) ? undefined : id;
  } catch (err) {
    // The next request would have to wait as long.
    if (err instanceof Stripe.errors.StripeConnectionError) throw err;
    log.warn({ err }, 'customers could not be searched');
    return undefined;
  }
}

/**
 * Creates a customer by an idempotency key. Stripe repeats its response to a key for a day, and refuses the key with other parameters: so
 * the name, which may change, is not among them.
 */
async function createCustomer(payments: Payments, organizationId: string, after?: string): Promise<string> {
  const metadata = { organizationId, customerType: 'organization' };
  const idempotencyKey = after === undefined ? `customer-${organizationId}` : `customer-${organizationId}-after-${after}`;
  const create = (options: Stripe.RequestOptions) => payments.stripe.customers.create({ metadata }, options);
  const { id } = await create({ idempotencyKey }).catch((error: unknown) => {
    // Stripe also repeats its own failures. If such a failure has created a customer after all, the daily comparison reports it.
    if (!(error instanceof Stripe.errors.StripeAPIError && (error.statusCode ?? 0) >= 500)) throw error;
    return create({});
  });
  // A repeated response may name a customer that was deleted since.
  return (await isDeleted(payments, id)) ? await createCustomer(payments, organizationId, id) : id;
}

/** The open checkouts of a customer. */
export async function listOpenCheckouts({ stripe }: Pick<Payments, 'stripe'>, customer: string): Promise<Stripe.Checkout.Session[]> {
  return (await stripe.checkout.sessions.list({ customer, status: 'open', limit: 100 }).catch(orMissing))?.data ?? [];
}

/** Closes the open checkouts of a customer. */
export async function expireCheckouts({ stripe }: Pick<Payments, 'stripe'>, customer: string): Promise<void> {
  for (const { id } of await listOpenCheckouts({ stripe }, customer)) await expireCheckout({ stripe }, id);
}

/** Closes a checkout. Ignores one that was paid or closed meanwhile. */
export async function expireCheckout({ stripe }: Pick<Payments, 'stripe'>, id: string): Promise<void> {
  try {
    await stripe.checkout.sessions.expire(id);
  } catch (error) {
    const refused = error instanceof Stripe.errors.StripeInvalidRequestError;
    if (!refused || (await stripe.checkout.sessions.retrieve(id)).status === 'open') throw error;
  }
}
