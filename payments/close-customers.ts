import type { Db } from '../db/connect.ts';
import { reportProblem, resolveProblem } from '../domain/billing/problems.ts';
import { closeCustomer } from './customers.ts';
import type { Payments } from './payments.ts';

/**
 * Ends the Stripe customers of an organization that is being deleted, so that none of its checkouts can be paid and nothing more is
 * charged. While billing is off, reports them to the operator instead. Throws if Stripe fails; running it again is harmless.
 */
export async function closeCustomers(db: Db, payments: Pick<Payments, 'stripe'> | undefined, organizationId: string): Promise<void> {
  for (const customer of await listCustomers(db, organizationId)) {
    if (payments) {
      await closeCustomer(payments, customer);
      await resolveProblem(db, 'customer-left', customer);
      continue;
    }
    await reportProblem(db, {
      kind: 'customer-left',
      subject: customer,
      organization_id: organizationId,
      stripe_customer_id: customer,
      stripe_subscription_id: null,
    });
  }
}

/** Its customer, and the customers of its subscriptions if they differ. */
async function listCustomers(db: Db, organizationId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('organization')
    .select('stripeCustomerId')
    .where('id', '=', organizationId)
    .union((eb) => eb.selectFrom('subscription').select('stripeCustomerId').where('referenceId', '=', organizationId))
    .execute();
  return new Set(rows.flatMap(({ stripeCustomerId }) => stripeCustomerId ?? []));
}
