import { ApiError } from '../../contract/api-error.ts';
import { startOrganizationDeletion } from '../../contract/intents/definitions.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { howToEndSubscription } from '../billing/end-subscription.ts';
import { findLiveSubscription } from '../billing/find-subscription.ts';
import { refuseHeld } from '../holds/legal-hold.ts';
import { lockOrganizationForDeletion } from '../locks.ts';

/**
 * Marks an organization as being deleted, so that nothing is created or charged in it any more, ends its API keys, and asks for the
 * workflow that deletes it. A second request changes nothing. Throws NOT_FOUND if there is no organization with this id and slug,
 * PRECONDITION_FAILED if it has a live subscription; without billing the message says how to end it.
 */
export async function requestOrganizationDeletion(
  trx: Transaction,
  actor: Actor,
  { organizationId, confirmSlug, billingEnabled }: { organizationId: string; confirmSlug: string; billingEnabled: boolean },
): Promise<void> {
  const organization = await lockOrganizationForDeletion(trx, organizationId);
  if (organization?.slug !== confirmSlug) throw new ApiError('NOT_FOUND', { message: 'There is no organization with this id and slug.' });
  await checkSubscription(trx, organizationId, billingEnabled);
  await markForDeletion(trx, actor, { id: organizationId, ...organization });
}

/** Marks an organization whose lock the transaction holds. Throws LEGAL_HOLD, and checks nothing else of whether it may be deleted. */
export async function markForDeletion(
  trx: Transaction,
  actor: Actor,
  { id, name, slug }: { id: string; name: string; slug: string },
): Promise<void> {
  await refuseHeld(trx, id);
  const marked = await trx
    .insertInto('organization_deletion')
    .values({ organization_id: id, requested_by: actor.userId })
    .onConflict((conflict) => conflict.column('organization_id').doNothing())
    .returning('organization_id')
    .executeTakeFirst();
  if (marked) {
    await trx.deleteFrom('api_key').where('organization_id', '=', id).execute();
    const event = { organizationId: id, action: 'organization.delete', targetId: id };
    await recordAudit(trx, actor, { ...event, metadata: { name, slug } });
  }
  addToOutbox(trx, startOrganizationDeletion(id));
}

/** Whether an organization's deletion was requested, or it is already gone. */
export async function mayBeDeleted(db: Db, organizationId: string): Promise<boolean> {
  const kept = await db
    .selectFrom('organization')
    .leftJoin('organization_deletion', 'organization_deletion.organization_id', 'organization.id')
    .select('organization.id')
    .where('organization.id', '=', organizationId)
    .where('organization_deletion.organization_id', 'is', null)
    .executeTakeFirst();
  return kept === undefined;
}

async function checkSubscription(trx: Transaction, organizationId: string, billingEnabled: boolean): Promise<void> {
  if (!(await findLiveSubscription(trx, organizationId))) return;
  const message = billingEnabled
    ? 'The subscription of this organization is still live: cancel it first.'
    : `The subscription of this organization is still live, and billing is not configured: ${howToEndSubscription(organizationId)}.`;
  throw new ApiError('PRECONDITION_FAILED', { message });
}
