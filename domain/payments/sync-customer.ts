import { orMissing } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';

/**
 * Gives the organization's customer at Stripe its name. Returns whether it had another one. Leaves a customer that is gone at Stripe to the
 * daily comparison. Throws if Stripe fails; it can be repeated.
 */
export async function syncCustomer({ db, stripe }: Payments, organizationId: string): Promise<{ renamed: boolean }> {
  const columns = ['name', 'stripeCustomerId'] as const;
  const row = await db.selectFrom('organization').select(columns).where('id', '=', organizationId).executeTakeFirst();
  if (!row?.stripeCustomerId) return { renamed: false };
  const { name, stripeCustomerId } = row;
  const customer = await stripe.customers.retrieve(stripeCustomerId).catch(orMissing);
  if (!customer || customer.deleted || customer.name === name) return { renamed: false };
  return { renamed: (await stripe.customers.update(stripeCustomerId, { name }).catch(orMissing)) !== undefined };
}
