import type Stripe from 'stripe';
import { ApiError } from '../../contract/api-error.ts';
import { startCustomerSync } from '../../contract/intents/definitions.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { reportProblem, resolveLeft, resolveMissing, resolveProblem } from '../billing/problems.ts';
import { type Organization, storeCustomer, syncSubscriptionsOf } from './customers.ts';
import { orMissing } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';

/**
 * Compares the customers at Stripe with those of the organizations. Reports customers that no organization has, and organizations whose
 * customer is gone. With `repair`, stores missing customers that were made for an organization, requests updates of names at Stripe, and
 * forgets customers that were deleted there. Returns the number of customers, and those that are `wanted`: a repair would store them.
 */
export async function compareCustomers(payments: Payments, repair: boolean): Promise<{ customers: number; wanted: Set<string> }> {
  const { db, stripe } = payments;
  const organizations = await listCustomers(payments);
  await resolveMissing(db);
  const seen = new Set<string>();
  const [left, wanted] = [new Set<string>(), new Set<string>()];
  for await (const customer of stripe.customers.list({ limit: 100 })) {
    const organization = organizations.get(customer.id);
    if (!organization && customer.metadata?.customerType !== 'organization') continue;
    seen.add(customer.id);
    if (organization) await compareNames(payments, { organization, customer, repair });
    else {
      const fate = await adoptOrReport(payments, customer, repair);
      if (fate === 'left') left.add(customer.id);
      else if (fate === 'wanted') wanted.add(customer.id);
    }
  }
  for (const [customer, organization] of organizations) {
    if (!seen.has(customer)) await reportGone(payments, { customer, organization, repair });
  }
  await resolveLeft(db, left);
  return { customers: seen.size, wanted };
}

/** The organizations by customer, without those being deleted: their workflow ends the customer long before the rows. */
async function listCustomers({ db }: Payments): Promise<Map<string, Organization>> {
  const columns = ['id', 'name', 'stripeCustomerId'] as const;
  const rows = await db
    .selectFrom('organization')
    .select(columns)
    .where('stripeCustomerId', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('organization_deletion').select('organization_id').whereRef('organization_id', '=', 'organization.id'))),
    )
    .execute();
  return new Map(rows.map((row) => [row.stripeCustomerId ?? '', row]));
}

async function compareNames(
  { db }: Payments,
  { organization, customer, repair }: { organization: Organization; customer: Stripe.Customer; repair: boolean },
): Promise<void> {
  await resolveProblem(db, 'customer-missing', customer.id);
  if (repair && customer.name !== organization.name) {
    await inTransaction(db, async (trx) => addToOutbox(trx, startCustomerSync(organization.id)));
  }
}

/**
 * Stores or reports a customer of no organization: a process may have died after Stripe had created it, or a backup from before was
 * restored.
 */
async function adoptOrReport({ db }: Payments, { id, metadata }: Stripe.Customer, repair: boolean): Promise<'stored' | 'wanted' | 'left'> {
  const organizationId = metadata.organizationId ?? null;
  const columns = ['id', 'stripeCustomerId'] as const;
  const row = organizationId
    ? await db.selectFrom('organization').select(columns).where('id', '=', organizationId).executeTakeFirst()
    : undefined;
  // Another request has stored it meanwhile.
  if (row?.stripeCustomerId === id) return 'stored';
  const isWanted = row !== undefined && row.stripeCustomerId === null;
  if (isWanted && !repair) return 'wanted';
  if (isWanted && (await storeCustomer(db, { organizationId: row.id, customer: id }).catch(orGone)) === id) return 'stored';
  await reportProblem(db, 'customer-left', { organizationId, customer: id });
  return 'left';
}

/** Ignores the error for an organization that is being deleted. */
function orGone(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}

async function reportGone(
  payments: Payments,
  { customer, organization, repair }: { customer: string; organization: Organization; repair: boolean },
): Promise<void> {
  const { db, stripe } = payments;
  const found = await stripe.customers.retrieve(customer).catch(orMissing);
  // The customer was created while the others were listed.
  if (found && !found.deleted) return;
  await reportProblem(db, found ? 'customer-deleted' : 'customer-missing', { organizationId: organization.id, customer });
  if (!found || !repair) return;
  await syncSubscriptionsOf(payments, customer);
  const set = { stripeCustomerId: null };
  await db.updateTable('organization').set(set).where('id', '=', organization.id).where('stripeCustomerId', '=', customer).execute();
}
