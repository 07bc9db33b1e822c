import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { recordAudit, systemActor } from '../audit.ts';
import { lockLiveSubscriptions, lockOrganizationForDeletion } from '../locks.ts';
import type { SubscriptionRow } from './find-subscription.ts';

/** The outcome of ending an organization's live subscriptions; `ended` holds the rows as they were before. */
type EndedSubscriptions =
  | { outcome: 'no-organization' }
  | { outcome: 'none-live' }
  | { outcome: 'billing-on' }
  | { outcome: 'ended'; ended: Pick<SubscriptionRow, 'id' | 'plan' | 'status' | 'stripeSubscriptionId'>[] };

/**
 * Ends the subscriptions that stayed in the database when billing was turned off, for an operator with access to the database. The payment
 * provider is not asked. Changes nothing while the API that started last has billing configured.
 */
export async function endSubscriptions(trx: Transaction, organizationId: string): Promise<EndedSubscriptions> {
  if (!(await lockOrganizationForDeletion(trx, organizationId))) return { outcome: 'no-organization' };
  // The API empties the table at its start when billing is off.
  if (await trx.selectFrom('plan_limit').select('plan').limit(1).executeTakeFirst()) return { outcome: 'billing-on' };
  const live = await lockLiveSubscriptions(trx, organizationId);
  for (const subscription of live) await end(trx, organizationId, subscription);
  return live.length === 0 ? { outcome: 'none-live' } : { outcome: 'ended', ended: live };
}

async function end(trx: Transaction, organizationId: string, { id, plan, status }: Pick<SubscriptionRow, 'id' | 'plan' | 'status'>) {
  const now = sql<Date>`clock_timestamp()`;
  await trx.updateTable('subscription').set({ status: 'canceled', canceledAt: now, endedAt: now }).where('id', '=', id).execute();
  await recordAudit(trx, systemActor, {
    organizationId,
    action: 'subscription.end',
    targetId: id,
    metadata: { plan, status, by: 'operator' },
  });
}

/** How an operator ends a subscription that stayed when billing was turned off, for error messages. */
export function howToEndSubscription(organizationId: string): string {
  return `an operator ends it with \`npm run ops -- end-subscription ${organizationId}\``;
}
