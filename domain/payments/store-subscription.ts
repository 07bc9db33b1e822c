import { sql } from 'kysely';
import type Stripe from 'stripe';
import type { Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { SubscriptionRow } from '../billing/find-subscription.ts';
import { reportProblem, resolveProblem } from '../billing/problems.ts';
import { newId } from '../ids.ts';
import { lockOrganizationOfCustomer, lockStoredSubscription } from '../locks.ts';
import { emitCreditEventsOfPlan } from '../webhooks/emit-credit-events.ts';
import { recordCancellation } from './cancellation-request.ts';
import type { FetchedSubscription } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { billedSeats, dateOf, idOf, isLiveStatus, readItems, type SoldPlan } from './plans.ts';

/**
 * Stores Stripe's response in the row of a subscription, unless the row holds a later one; inserts a missing row. Returns the row, or
 * undefined for another product or a customer without an organization, which is reported to the operator while it costs money. Tells
 * webhooks of credits that a smaller plan uses up. Needs a transaction of `inTransaction`.
 */
export async function storeSubscription(
  trx: Transaction,
  fetched: FetchedSubscription,
  { plans, getPlan }: Pick<Payments, 'plans' | 'getPlan'>,
): Promise<SubscriptionRow | undefined> {
  const { subscription, fetch } = fetched;
  const organizationId = await lockOrganizationOfCustomer(trx, idOf(subscription.customer) ?? '');
  const found = await lockStoredSubscription(trx, subscription.id);
  const { plan } = readItems(subscription, plans);
  const values = { ...valuesOf(fetched, plans), syncedAt: sql<Date>`now()`, syncedFetch: fetch };
  let stored: SubscriptionRow;
  if (found) {
    // An older answer may be about an earlier cancellation that was revoked since.
    if (fetch > found.syncedFetch) await recordCancellation(trx, found, subscription);
    stored = await overwrite(trx, found, values);
  } else if (!organizationId) return void (await reportUnknown(trx, subscription, plan !== undefined));
  else if (!plan) return undefined;
  else stored = await insert(trx, { ...values, referenceId: organizationId });
  // At an earlier request its customer may have belonged to no organization.
  await resolveProblem(trx, 'unknown-customer', subscription.id);
  await reportSeveral(trx, stored);
  await emitCreditEventsOfPlan(trx, stored.referenceId, await getPlan(trx, stored.referenceId));
  return stored;
}

/** Reports a subscription that has no row to the operator, while its customer belongs to no organization. Returns whether that is so. */
export async function reportStranger(
  { db, plans }: Pick<Payments, 'db' | 'plans'>,
  { subscription }: FetchedSubscription,
): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    if (await lockOrganizationOfCustomer(trx, idOf(subscription.customer) ?? '')) return false;
    await reportUnknown(trx, subscription, readItems(subscription, plans).plan !== undefined);
    return true;
  });
}

/** The values of the row of a subscription. */
export function valuesOf({ subscription, pastDueSince }: FetchedSubscription, plans: SoldPlan[]) {
  const { plan, item = subscription.items.data[0] } = readItems(subscription, plans);
  return {
    // Changed to a price of something else, or to one that the configuration no longer names, it gives no plan.
    plan: plan?.name ?? 'free',
    status: subscription.status,
    stripeSubscriptionId: subscription.id,
    stripeCustomerId: idOf(subscription.customer) ?? null,
    createdAt: dateOf(subscription.created),
    periodStart: dateOf(item?.current_period_start),
    periodEnd: dateOf(item?.current_period_end),
    trialStart: dateOf(subscription.trial_start),
    trialEnd: dateOf(subscription.trial_end),
    cancelAtPeriodEnd: endsWithPeriod(subscription, item),
    cancelAt: dateOf(subscription.cancel_at),
    canceledAt: dateOf(subscription.canceled_at),
    endedAt: dateOf(subscription.ended_at),
    seats: billedSeats(subscription, plans),
    billingInterval: item?.price.recurring?.interval ?? null,
    stripeScheduleId: idOf(subscription.schedule) ?? null,
    pastDueSince,
  };
}

/** Whether it ends with the paid period: by its flag, or by a date of its end, which Stripe's own pages may set instead. */
function endsWithPeriod({ cancel_at_period_end, cancel_at }: Stripe.Subscription, item: Stripe.SubscriptionItem | undefined): boolean {
  return cancel_at_period_end || (cancel_at !== null && cancel_at === item?.current_period_end);
}

type Values = ReturnType<typeof valuesOf> & { syncedAt: ReturnType<typeof sql<Date>>; syncedFetch: number };

async function overwrite(trx: Transaction, row: SubscriptionRow, values: Values): Promise<SubscriptionRow> {
  const stored = await trx
    .updateTable('subscription')
    .set(values)
    .where('id', '=', row.id)
    .where('syncedFetch', '<', values.syncedFetch)
    .returningAll()
    .executeTakeFirst();
  return stored ?? row;
}

function insert(trx: Transaction, values: Values & { referenceId: string }): Promise<SubscriptionRow> {
  return trx
    .insertInto('subscription')
    .values({ ...values, id: newId() })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Reports a customer that belongs to no organization and pays for a plan, for example by a checkout of a deleted one. */
async function reportUnknown(trx: Transaction, subscription: Stripe.Subscription, isOurs: boolean): Promise<void> {
  if (!isOurs || !isLiveStatus(subscription.status)) await resolveProblem(trx, 'unknown-customer', subscription.id);
  else {
    const [organizationId, customer] = [subscription.metadata.referenceId ?? null, idOf(subscription.customer) ?? null];
    await reportProblem(trx, 'unknown-customer', { organizationId, customer, subscription: subscription.id });
  }
}

async function reportSeveral(trx: Transaction, { referenceId, stripeCustomerId }: SubscriptionRow): Promise<void> {
  const rows = await trx
    .selectFrom('subscription')
    .select(['status', 'stripeSubscriptionId'])
    .where('referenceId', '=', referenceId)
    .where('plan', '<>', 'free')
    .where('stripeSubscriptionId', 'is not', null)
    .execute();
  const live = rows.filter(({ status }) => isLiveStatus(status));
  if (live.length < 2) return void (await resolveProblem(trx, 'several-subscriptions', stripeCustomerId ?? ''));
  await reportProblem(trx, 'several-subscriptions', { organizationId: referenceId, customer: stripeCustomerId });
}
