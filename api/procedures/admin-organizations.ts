import type { SubscriptionStatus } from '../../contract/fields.ts';
import { contract } from '../../contract/index.ts';
import { listOrganizations } from '../../domain/organizations/list-organizations.ts';
import type { ApiDeps } from '../deps.ts';
import { toOrganizationSummary } from '../presenters/organization.ts';
import { procedure } from '../procedure.ts';
import { organizationDeletion } from './admin-organization-deletion.ts';

export function adminOrganizationProcedures(deps: ApiDeps) {
  const { db, config } = deps;
  return {
    list: procedure(contract.admin.organizations.list, async ({ input }) => {
      const { enabled, dunningDays } = config.billing;
      const { items, total } = await listOrganizations(db, { ...input, dunningDays });
      return { items: items.map((organization) => toOrganizationSummary(organization, enabled)), total };
    }),

    cancelSubscription: procedure(contract.admin.organizations.cancelSubscription, async ({ input, actor }) => {
      const { organizationId, immediately = false } = input;
      const { status, cancelAtPeriodEnd } = await deps.cancelSubscription(actor, { organizationId, immediately });
      return { status: status as SubscriptionStatus, cancelAtPeriodEnd };
    }),

    delete: organizationDeletion(deps),
  };
}
