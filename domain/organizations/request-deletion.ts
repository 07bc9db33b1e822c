import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { startOrganizationDeletion } from '../../workflows/definitions.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { howToEndSubscription } from '../billing/end-subscription.ts';
import { findLiveSubscription } from '../billing/find-subscription.ts';
import { lockOrganizationForDeletion } from '../locks.ts';

/**
 * Marks an organization as being deleted, so that every further write is refused, and asks for the workflow that deletes it. A second
 * request changes nothing. Throws NOT_FOUND if there is no organization with this id and slug, PRECONDITION_FAILED if it has a live
 * subscription; without billing the message says how to end it.
 */
export async function requestOrganizationDeletion(
  trx: Transaction,
  actor: Actor,
  { organizationId, confirmSlug, billingEnabled }: { organizationId: string; confirmSlug: string; billingEnabled: boolean },
): Promise<void> {
  const organization = await lockOrganizationForDeletion(trx, organizationId);
  if (organization?.slug !== confirmSlug) throw new ApiError('NOT_FOUND', { message: 'There is no organization with this id and slug.' });
  await checkSubscription(trx, organizationId, billingEnabled);
  const marked = await trx
    .insertInto('organization_deletion')
    .values({ organization_id: organizationId, requested_by: actor.userId })
    .onConflict((conflict) => conflict.column('organization_id').doNothing())
    .returning('organization_id')
    .executeTakeFirst();
  if (marked) {
    await recordAudit(trx, actor, {
      organizationId,
      action: 'organization.delete',
      targetType: 'organization',
      targetId: organizationId,
      metadata: { name: organization.name, slug: organization.slug },
    });
  }
  addToOutbox(trx, startOrganizationDeletion(organizationId));
}

async function checkSubscription(trx: Transaction, organizationId: string, billingEnabled: boolean): Promise<void> {
  if (!(await findLiveSubscription(trx, organizationId))) return;
  const message = billingEnabled
    ? 'The subscription of this organization is still live: cancel it first.'
    : `The subscription of this organization is still live, and billing is not configured: ${howToEndSubscription(organizationId)}.`;
  throw new ApiError('PRECONDITION_FAILED', { message });
}
