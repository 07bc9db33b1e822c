import { ApiError } from '../../contract/api-error.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Actor } from '../../domain/audit.ts';
import { requestOrganizationDeletion } from '../../domain/organizations/request-deletion.ts';
import type { ApiDeps } from '../deps.ts';

/**
 * Has a workflow delete an organization, and waits for it. Throws NOT_FOUND, PRECONDITION_FAILED while a subscription is live, and
 * SERVICE_UNAVAILABLE if it takes longer than `deletionWaitMs`.
 */
export async function deleteOrganization(
  { db, config, awaitDeletion }: Pick<ApiDeps, 'db' | 'config' | 'awaitDeletion'>,
  actor: Actor,
  input: { organizationId: string; confirmSlug: string },
) {
  const request = { ...input, billingEnabled: config.billing.enabled };
  await inTransaction(db, (trx) => requestOrganizationDeletion(trx, actor, request));
  const counts = await awaitDeletion(input.organizationId, config.deletionWaitMs);
  if (counts) return { organizationId: input.organizationId, ...counts };
  throw new ApiError('SERVICE_UNAVAILABLE', {
    message: 'The organization is being deleted. This goes on without you; ask again to wait for its end.',
  });
}
