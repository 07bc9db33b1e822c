import type { Db } from '../../db/connect.ts';
import { reportProblem, resolveProblem } from '../billing/problems.ts';
import { expireCheckouts } from './customers.ts';
import { orMissing } from './fetch-subscription.ts';
import { listAll } from './live-subscriptions.ts';
import type { Payments } from './payments.ts';
import { isLiveStatus } from './plans.ts';

/**
 * Ends the Stripe customers of an organization that is being deleted, so that none of its checkouts can be paid and nothing more is
 * charged. Their subscriptions end with them; those that are still live are reported to the operator, who may have to refund. While billing
 * is off, only reports the customers. Throws if Stripe fails; it can be repeated.
 */
export async function closeCustomers(db: Db, payments: Pick<Payments, 'stripe'> | undefined, organizationId: string): Promise<void> {
  for (const customer of await listCustomers(db, organizationId)) {
    if (!payments) {
      await reportProblem(db, 'customer-left', { organizationId, customer });
      continue;
    }
    await closeCustomer(db, payments, { customer, organizationId });
    await resolveProblem(db, 'customer-left', customer);
  }
}

/** Ends a customer. Does nothing if it is gone. */
async function closeCustomer(
  db: Db,
  { stripe }: Pick<Payments, 'stripe'>,
  { customer, organizationId }: { customer: string; organizationId: string },
): Promise<void> {
  await expireCheckouts({ stripe }, customer);
  // From now on no checkout can begin another subscription.
  for (const { id, status } of await listAll({ stripe }, customer)) {
    if (isLiveStatus(status)) await reportProblem(db, 'ended-with-organization', { organizationId, customer, subscription: id });
  }
  await stripe.customers.del(customer).catch(orMissing);
}

/** The organization's customer, and those of its subscriptions if they differ. */
async function listCustomers(db: Db, organizationId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('organization')
    .select('stripeCustomerId')
    .where('id', '=', organizationId)
    .union((eb) => eb.selectFrom('subscription').select('stripeCustomerId').where('referenceId', '=', organizationId))
    .execute();
  return new Set(rows.flatMap(({ stripeCustomerId }) => stripeCustomerId ?? []));
}
