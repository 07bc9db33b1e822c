import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { lockOrganization } from '../locks.ts';
import { releaseWaiting } from '../outages/release-waiting.ts';
import type { Suspension } from './suspension.ts';

/** How many jobs go on at once when a suspension is lifted; the sweep does the rest. */
const afterLift = 200;

/**
 * Suspends an organization, or changes the reason: its members still read, nothing is written for them, and its jobs wait until
 * {@link liftSuspension}. Throws NOT_FOUND if it is gone or being deleted.
 */
export async function suspendOrganization(
  trx: Transaction,
  actor: Actor,
  { organizationId, reason }: { organizationId: string; reason: string },
): Promise<Suspension> {
  await lockOrganization(trx, organizationId);
  const suspension = await trx
    .insertInto('organization_suspension')
    .values({ organization_id: organizationId, reason })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ reason }))
    .returning(['reason', 'since'])
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, { organizationId, action: 'organization.suspend', targetId: organizationId, metadata: { reason } });
  return suspension;
}

/** Lifts a suspension; its jobs go on, in turn with those of others. Throws NOT_FOUND if there is none. */
export async function liftSuspension(trx: Transaction, actor: Actor, organizationId: string): Promise<void> {
  await lockOrganization(trx, organizationId);
  const lifted = trx.deleteFrom('organization_suspension').where('organization_id', '=', organizationId).returning('reason');
  const suspension = await lifted.executeTakeFirst();
  if (!suspension) throw new ApiError('NOT_FOUND', { message: 'This organization is not suspended.' });
  await recordAudit(trx, actor, {
    organizationId,
    action: 'organization.lift',
    targetId: organizationId,
    metadata: { reason: suspension.reason },
  });
  await releaseWaiting(trx, { part: 'suspension', limit: afterLift });
}
