import type { SubscriptionStatus } from '../../contract/fields.ts';
import { contract } from '../../contract/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { endPlanOverride, overridePlan } from '../../domain/billing/override-plan.ts';
import { listOrganizations } from '../../domain/organizations/list-organizations.ts';
import { liftSuspension, suspendOrganization } from '../../domain/organizations/suspend-organization.ts';
import { emitCreditEventsOfPlan } from '../../domain/webhooks/emit-credit-events.ts';
import type { ApiDeps } from '../deps.ts';
import { toOrganizationSummary, toPlanOverride, toSuspension } from '../presenters/organization.ts';
import { procedure } from '../procedure.ts';
import { deleteOrganization } from './delete-organization.ts';

export function adminOrganizationProcedures(deps: ApiDeps) {
  const { db, config, getPlan, cancelSubscription } = deps;
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

    suspend: procedure(contract.admin.organizations.suspend, async ({ input, actor }) =>
      toSuspension(await inTransaction(db, (trx) => suspendOrganization(trx, actor, input))),
    ),

    liftSuspension: procedure(contract.admin.organizations.liftSuspension, async ({ input: { organizationId }, actor }) => {
      await inTransaction(db, (trx) => liftSuspension(trx, actor, organizationId));
      return { organizationId };
    }),

    overridePlan: procedure(contract.admin.organizations.overridePlan, async ({ input, actor }) => {
      const override = await inTransaction(db, async (trx) => {
        const given = await overridePlan(trx, actor, input);
        await emitCreditEventsOfPlan(trx, input.organizationId, await getPlan(trx, input.organizationId));
        return given;
      });
      return toPlanOverride(override);
    }),

    endPlanOverride: procedure(contract.admin.organizations.endPlanOverride, async ({ input: { organizationId }, actor }) => {
      await inTransaction(db, async (trx) => {
        await endPlanOverride(trx, actor, organizationId);
        await emitCreditEventsOfPlan(trx, organizationId, await getPlan(trx, organizationId));
      });
      return { organizationId };
    }),

    delete: procedure(contract.admin.organizations.delete, ({ input, actor }) => deleteOrganization(deps, actor, input)),
  };
}
