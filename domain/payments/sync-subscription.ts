import { startSeatSync } from '../../contract/intents/definitions.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { countMembers } from '../billing/count-members.ts';
import type { SubscriptionRow } from '../billing/find-subscription.ts';
import { isLive } from '../billing/live-subscription.ts';
import { reportProblem, resolveProblem } from '../billing/problems.ts';
import { type FetchedSubscription, fetchSubscription } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { storeSubscription } from './store-subscription.ts';
import { seatChanges } from './sync-seats.ts';

/**
 * Fetches a subscription from Stripe, and stores its state in its row (`storeSubscription`). `also` runs in the same transaction, with the
 * row if there is one. Throws if Stripe or the database fails; it can be repeated.
 */
export async function syncSubscription(
  payments: Pick<Payments, 'db' | 'stripe' | 'plans' | 'getPlan'>,
  id: string,
  also: (trx: Transaction, row: SubscriptionRow | undefined) => Promise<void> = async () => {},
): Promise<SubscriptionRow | undefined> {
  const fetched = await fetchSubscription(payments, id);
  return await inTransaction(payments.db, async (trx) => {
    const row = fetched ? await storeSubscription(trx, fetched, payments) : undefined;
    if (fetched && row) await followSeats(payments, trx, fetched, row);
    if (fetched) await resolveProblem(trx, 'subscription-missing', id);
    else await reportMissing(trx, id);
    await also(trx, row);
    return row;
  });
}

/** Starts the sync of seats if they differ from the members, who may have changed during a checkout; the portal changes no seats. */
export async function followSeats(
  payments: Pick<Payments, 'plans'>,
  trx: Transaction,
  fetched: FetchedSubscription,
  row: SubscriptionRow,
): Promise<void> {
  const members = await countMembers(trx, row.referenceId);
  if (seatChanges(payments, fetched, members).length > 0) addToOutbox(trx, startSeatSync(row.referenceId));
}

/**
 * Reports a missing subscription. The row stays unchanged: otherwise a key of another Stripe account would end every subscription at once.
 */
async function reportMissing(trx: Transaction, id: string): Promise<void> {
  const row = await trx.selectFrom('subscription').selectAll().where('stripeSubscriptionId', '=', id).where(isLive).executeTakeFirst();
  if (!row) return void (await resolveProblem(trx, 'unknown-customer', id));
  const { referenceId: organizationId, stripeCustomerId: customer } = row;
  await reportProblem(trx, 'subscription-missing', { organizationId, customer, subscription: id });
}
