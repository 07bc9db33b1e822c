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

    delete: organizationDeletion(deps),
  };
}
