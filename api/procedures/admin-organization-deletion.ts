import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { requestOrganizationDeletion } from '../../domain/organizations/request-deletion.ts';
import type { ApiDeps } from '../deps.ts';
import { procedure } from '../procedure.ts';

/** `admin.organizations.delete`: durable, since a workflow does it; the answer only waits for it. */
export function organizationDeletion(deps: ApiDeps) {
  return procedure(contract.admin.organizations.delete, async ({ input, actor }) => {
    const request = { ...input, billingEnabled: deps.config.billing.enabled };
    const message = await inTransaction(deps.db, (trx) => requestOrganizationDeletion(trx, actor, request));
    deps.dispatch([message]);
    const counts = await deps.awaitDeletion(input.organizationId, deps.config.deletionWaitMs);
    if (counts) return { organizationId: input.organizationId, ...counts };
    throw new ApiError('SERVICE_UNAVAILABLE', {
      message: 'The organization is being deleted. This goes on without you; ask again to wait for its end.',
    });
  });
}
