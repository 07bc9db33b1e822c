import type { Db } from '../db/connect.ts';
import { reportProblem, resolveProblem } from '../domain/billing/problems.ts';
import { closeCustomer } from './customers.ts';
import type { Payments } from './payments.ts';

/**
 * Ends an organization that is being deleted as a customer, so that no checkout of it can be paid and nothing is charged any more. While
 * billing is off, the operator is told instead. Throws if Stripe fails; running it again is harmless.
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

/** Its customer, and those of its subscriptions, should they be others. */
async function listCustomers(db: Db, organizationId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('organization')
    .select('stripeCustomerId')
    .where('id', '=', organizationId)
    .union((eb) => eb.selectFrom('subscription').select('stripeCustomerId').where('referenceId', '=', organizationId))
    .execute();
  return new Set(rows.flatMap(({ stripeCustomerId }) => stripeCustomerId ?? []));
}
