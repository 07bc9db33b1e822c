import type { Selectable } from 'kysely';
import type { AuthTables } from '../../db/auth-schema.ts';
import type { Db } from '../../db/connect.ts';
import { byRelevance, isLive } from './live-subscription.ts';

/** A subscription's row: the last state that the payment provider reported. */
export type SubscriptionRow = Selectable<AuthTables['subscription']>;

/** The subscription that an organization has, or its last one; undefined if it never had one. */
export async function findSubscription(db: Db, organizationId: string): Promise<SubscriptionRow | undefined> {
  return subscriptionsOf(db, organizationId).executeTakeFirst();
}

/** The subscription that the organization pays for now. */
export async function findLiveSubscription(db: Db, organizationId: string): Promise<SubscriptionRow | undefined> {
  return subscriptionsOf(db, organizationId).where(isLive).executeTakeFirst();
}

function subscriptionsOf(db: Db, organizationId: string) {
  return db.selectFrom('subscription').selectAll().where('referenceId', '=', organizationId).orderBy(byRelevance).limit(1);
}
