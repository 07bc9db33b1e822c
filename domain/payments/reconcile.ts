import { inTransaction } from '../../db/transaction.ts';
import { countMembers } from '../billing/count-members.ts';
import type { SubscriptionRow } from '../billing/find-subscription.ts';
import { tellOfOverrides } from '../billing/override-plan.ts';
import { listProblems, listSubjects, resolveEnded } from '../billing/problems.ts';
import { forgetOldCancellations } from './cancellation-request.ts';
import { compareCustomers } from './compare-customers.ts';
import { type FetchedSubscription, fetchSubscription } from './fetch-subscription.ts';
import { endDuplicates } from './live-subscriptions.ts';
import type { Payments } from './payments.ts';
import { idOf, isLiveStatus, readItems } from './plans.ts';
import { reportStranger, storeSubscription, valuesOf } from './store-subscription.ts';
import { seatChanges } from './sync-seats.ts';
import { followSeats, syncSubscription } from './sync-subscription.ts';

const maxDuplicates = 1_000;
/** With more failures the cause is Stripe or the database, and the others would fail as well. */
const maxFailures = 5;

/** The result of a comparison with Stripe. */
export interface Reconciliation {
  subscriptions: number;
  /** Stripe's ids of subscriptions whose row differed or was missing. */
  different: string[];
  /** Stripe's ids of subscriptions that billed another number of seats than there are members. */
  seats: string[];
  customers: number;
}

interface ReconcileOptions {
  /** False only compares, and updates the problems that are reported to the operator. */
  repair: boolean;
}

/**
 * Compares subscriptions, seats and customers at Stripe with the rows. With `repair`, updates rows from Stripe, and seats to the number of
 * members. Reports problems that only a person can solve (`listProblems`). Throws if Stripe fails; for a few subscriptions only after the
 * others are done. It can be repeated.
 */
export async function reconcile(payments: Payments, { repair }: ReconcileOptions): Promise<Reconciliation> {
  const found: Reconciliation = { subscriptions: 0, different: [], seats: [], customers: 0 };
  const failures: unknown[] = [];
  // First, since a subscription whose customer belongs to no organization is a stranger's.
  const { customers, wanted } = await compareCustomers(payments, repair);
  found.customers = customers;
  for (const id of await listIds(payments)) {
    await compareSubscription(payments, { id, repair, found, wanted }).catch((err: unknown) => {
      payments.log.error({ err, subscription: id }, 'a subscription could not be compared');
      if (failures.push(err) === maxFailures) throw err;
    });
  }
  await resolveEnded(payments.db);
  if (repair) await endAllDuplicates(payments);
  if (repair) await tellOfOverrides(payments.db, payments.getPlan);
  if (repair) await forgetOldCancellations(payments.db);
  if (failures.length > 0) throw failures[0];
  return found;
}

async function compareSubscription(
  payments: Payments,
  { id, repair, found, wanted }: ReconcileOptions & { id: string; found: Reconciliation; wanted: Set<string> },
): Promise<void> {
  const fetched = await fetchSubscription(payments, id);
  const row = await findRow(payments, id);
  found.subscriptions++;
  if (!fetched) return void (await syncSubscription(payments, id));
  const isWanted = wanted.has(idOf(fetched.subscription.customer) ?? '');
  if (!row && !isWanted && (await reportStranger(payments, fetched))) return;
  if (differs(fetched, row, payments)) found.different.push(id);
  if (row && seatChanges(payments, fetched, await countMembers(payments.db, row.referenceId)).length > 0) found.seats.push(id);
  if (repair) await store(payments, fetched);
}

/** The ids of our subscriptions that are not canceled at Stripe or in their rows, and of unknown ones that were not. */
async function listIds({ stripe, db, plans }: Payments): Promise<Set<string>> {
  const ids = new Set(await listSubjects(db, 'unknown-customer'));
  for await (const subscription of stripe.subscriptions.list({ limit: 100 })) {
    if (isLiveStatus(subscription.status) && readItems(subscription, plans).plan) ids.add(subscription.id);
  }
  const rows = await db
    .selectFrom('subscription')
    .select('stripeSubscriptionId')
    .where('status', 'not in', ['canceled', 'incomplete_expired'])
    .execute();
  for (const { stripeSubscriptionId } of rows) if (stripeSubscriptionId) ids.add(stripeSubscriptionId);
  return ids;
}

function findRow({ db }: Payments, id: string): Promise<SubscriptionRow | undefined> {
  return db.selectFrom('subscription').selectAll().where('stripeSubscriptionId', '=', id).executeTakeFirst();
}

function differs(fetched: FetchedSubscription, row: SubscriptionRow | undefined, { plans }: Payments): boolean {
  if (!row) return true;
  const held = row as Record<string, unknown>;
  return Object.entries(valuesOf(fetched, plans)).some(([name, value]) => String(held[name]) !== String(value));
}

async function store(payments: Payments, fetched: FetchedSubscription): Promise<void> {
  await inTransaction(payments.db, async (trx) => {
    const row = await storeSubscription(trx, fetched, payments);
    if (row) await followSeats(payments, trx, fetched, row);
  });
}

/**
 * Ends duplicate subscriptions of a second checkout, in case its event was lost. If that fails for a customer, the operator's problem
 * stays.
 */
async function endAllDuplicates(payments: Payments): Promise<void> {
  for (const { kind, subject: customer } of await listProblems(payments.db, maxDuplicates)) {
    if (kind !== 'several-subscriptions') continue;
    await endDuplicates(payments, customer).catch((err: unknown) =>
      payments.log.error({ err, customer }, 'one of several subscriptions could not be ended'),
    );
  }
}
