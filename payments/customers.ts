import { createHash } from 'node:crypto';
import { ApiError } from '../contract/api-error.ts';
import { inTransaction } from '../db/transaction.ts';
import { lockOrganization } from '../domain/locks.ts';
import { orMissing } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';

export interface Organization {
  id: string;
  name: string;
  stripeCustomerId: string | null;
}

/**
 * The customer of an organization at Stripe, made if there is none. Two requests at once, or one that was cut off between Stripe and the
 * database, make one customer. Throws NOT_FOUND if the organization is gone or is being deleted.
 */
export async function ensureCustomer(payments: Payments, organization: Organization): Promise<string> {
  if (organization.stripeCustomerId) return organization.stripeCustomerId;
  const { stripe, db } = payments;
  const customer = (await findCustomer(payments, organization.id)) ?? (await createCustomer(payments, organization));
  try {
    return await inTransaction(db, async (trx) => {
      await lockOrganization(trx, organization.id);
      const row = await trx
        .updateTable('organization')
        .set(({ fn, val }) => ({ stripeCustomerId: fn.coalesce('stripeCustomerId', val(customer)) }))
        .where('id', '=', organization.id)
        .returning('stripeCustomerId')
        .executeTakeFirst();
      return row?.stripeCustomerId ?? customer;
    });
  } catch (error) {
    // An organization that is gone needs no customer. After any other error another request, or a commit whose answer was lost, may have
    // stored this one, and the next request finds it again.
    if (error instanceof ApiError) await stripe.customers.del(customer).catch(orMissing);
    throw error;
  }
}

/** Stripe's search knows what is a minute old; an idempotency key covers what is newer. */
async function findCustomer({ stripe, log }: Payments, organizationId: string): Promise<string | undefined> {
  try {
    const query = `metadata["organizationId"]:"${organizationId}" AND metadata["customerType"]:"organization"`;
    return (await stripe.customers.search({ query, limit: 1 })).data[0]?.id;
  } catch (err) {
    log.warn({ err }, 'customers could not be searched');
    return undefined;
  }
}

async function createCustomer({ stripe }: Payments, { id, name }: Organization): Promise<string> {
  // Stripe refuses a key that comes with another name.
  const idempotencyKey = `customer-${id}-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
  const metadata = { organizationId: id, customerType: 'organization' };
  return (await stripe.customers.create({ name, metadata }, { idempotencyKey })).id;
}

/**
 * Ends a customer at Stripe: no checkout of it can be paid any more, and its subscriptions end at once. One that is gone changes nothing.
 */
export async function closeCustomer({ stripe }: Pick<Payments, 'stripe'>, customerId: string): Promise<void> {
  await expireCheckouts({ stripe }, customerId);
  await stripe.customers.del(customerId).catch(orMissing);
}

/** Closes the checkouts of a customer that were begun and not paid. */
export async function expireCheckouts({ stripe }: Pick<Payments, 'stripe'>, customer: string): Promise<void> {
  const { data } = (await stripe.checkout.sessions.list({ customer, status: 'open', limit: 100 }).catch(orMissing)) ?? { data: [] };
  for (const { id } of data) await stripe.checkout.sessions.expire(id);
}
