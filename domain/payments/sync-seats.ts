import { inTransaction } from '../../db/transaction.ts';
import { countMembers } from '../billing/count-members.ts';
import { type FetchedSubscription, fetchSubscription } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { changesTo, readItems } from './plans.ts';
import { storeSubscription } from './store-subscription.ts';

export interface SeatSync {
  members: number;
  /** Stripe's ids of the subscriptions that billed another number. */
  changed: string[];
}

/** The statuses in which the items of a subscription follow the members. */
const followed = new Set<string>(['active', 'trialing', 'past_due']);

/**
 * Makes Stripe bill an organization for as many seats as it has members. Adds the item of the seats if it is missing, as after a change
 * from pro to team, and removes it if the plan has none. Throws if Stripe fails; it can be repeated.
 */
export async function syncSeats(payments: Payments, organizationId: string): Promise<SeatSync> {
  const { db, plans, stripe } = payments;
  const sync: SeatSync = { members: await countMembers(db, organizationId), changed: [] };
  if (!plans.some(({ seatPriceId }) => seatPriceId)) return sync;
  for (const id of await listSubscriptions(payments, organizationId)) {
    let fetched = await fetchSubscription(payments, id);
    // Counted after Stripe was asked: a later member starts another run.
    sync.members = await countMembers(db, organizationId);
    const items = fetched ? seatChanges(payments, fetched, sync.members) : [];
    if (items.length > 0) {
      await stripe.subscriptions.update(id, { items, proration_behavior: 'create_prorations' });
      sync.changed.push(id);
      fetched = await fetchSubscription(payments, id);
    }
    await inTransaction(db, async (trx) => fetched && storeSubscription(trx, fetched, payments));
  }
  return sync;
}

/** The changes that make a subscription bill the number of members; nothing if it bills no members, or its status is not `followed`. */
export function seatChanges({ plans }: Pick<Payments, 'plans'>, { subscription }: FetchedSubscription, members: number) {
  const { plan } = readItems(subscription, plans);
  if (!plan || !followed.has(subscription.status) || !plans.some(({ seatPriceId }) => seatPriceId)) return [];
  return changesTo(plan, subscription, { plans, members });
}

async function listSubscriptions({ db }: Payments, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('subscription')
    .select('stripeSubscriptionId')
    .where('referenceId', '=', organizationId)
    .where('status', 'in', [...followed])
    .execute();
  return rows.flatMap(({ stripeSubscriptionId }) => stripeSubscriptionId ?? []);
}
