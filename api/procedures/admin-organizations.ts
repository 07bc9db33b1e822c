import { ApiError } from '../../contract/api-error.ts';
import type { SubscriptionStatus } from '../../contract/fields.ts';
import { contract } from '../../contract/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { listOrganizations } from '../../domain/organizations/list-organizations.ts';
import { requestOrganizationDeletion } from '../../domain/organizations/request-deletion.ts';
import type { ApiDeps } from '../deps.ts';
import { toOrganizationSummary } from '../presenters/organization.ts';
import { procedure } from '../procedure.ts';

export function adminOrganizationProcedures({ db, config, cancelSubscription, awaitDeletion }: ApiDeps) {
  return {
    list: procedure(contract.admin.organizations.list, async ({ input }) => {
      const { enabled, dunningDays } = config.billing;
      const { items, total } = await listOrganizations(db, { ...input, dunningDays });
      return { items: items.map((organization) => toOrganizationSummary(organization, enabled)), total };
    }),

    cancelSubscription: procedure(contract.admin.organizations.cancelSubscription, async ({ input, actor }) => {
      const { organizationId, immediately = false } = input;
      const { status, cancelAtPeriodEnd } = await cancelSubscription(actor, { organizationId, immediately });
      return { status: status as SubscriptionStatus, cancelAtPeriodEnd };
    }),

    // A workflow deletes the organization; the request only waits for it.
    delete: procedure(contract.admin.organizations.delete, async ({ input, actor }) => {
      const request = { ...input, billingEnabled: config.billing.enabled };
      await inTransaction(db, (trx) => requestOrganizationDeletion(trx, actor, request));
      const counts = await awaitDeletion(input.organizationId, config.deletionWaitMs);
      if (counts) return { organizationId: input.organizationId, ...counts };
      throw new ApiError('SERVICE_UNAVAILABLE', {
        message: 'The organization is being deleted. This goes on without you; ask again to wait for its end.',
      });
    }),
  };
}
