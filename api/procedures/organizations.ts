import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import { usageRows } from '../../contract/organizations.ts';
import { inTransaction } from '../../db/transaction.ts';
import { listAuditEntries } from '../../domain/audit.ts';
import { readCosts } from '../../domain/costs/read-costs.ts';
import { readHeldCredits, readUsageHistory } from '../../domain/credits/usage-history.ts';
import { liftHold, setHold } from '../../domain/holds/change-hold.ts';
import { type HoldRow, listHolds } from '../../domain/holds/legal-hold.ts';
import { getUsage } from '../../domain/organizations/get-usage.ts';
import { findSuspension } from '../../domain/organizations/suspension.ts';
import { findReadOnly } from '../../domain/platform/read-only.ts';
import { getWorkspace } from '../../domain/workspaces/workspace.ts';
import { type Authorize, checkStill } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { toAuditEntry } from '../presenters/audit-entry.ts';
import { toSuspension } from '../presenters/organization.ts';
import { procedure } from '../procedure.ts';
import { awaitAuditFeed } from '../streams/await-audit-feed.ts';
import { deleteOrganization } from './delete-organization.ts';

export function organizationProcedures(deps: ApiDeps) {
  const { config, db, sessionsDb, getPlan, cursors, readiness } = deps;
  return {
    usage: procedure(contract.organizations.usage, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      const plan = await getPlan(db, input.organizationId);
      const { period, ...usage } = await getUsage(db, input.organizationId);
      const suspension = await findSuspension(db, input.organizationId);
      const readOnly = await findReadOnly(db);
      return {
        ...(suspension && { suspension: toSuspension(suspension) }),
        ...(readOnly !== null && { readOnly }),
        plan: plan?.plan ?? null,
        limits: plan?.limits ?? null,
        usage,
        period: { start: period.start.toISOString(), end: period.end.toISOString() },
      };
    }),

    usageHistory: procedure(contract.organizations.usageHistory, async ({ input, authorize }) => {
      const { organizationId, days, by } = input;
      await authorize(organizationId);
      const last = new Date(input.to ?? Date.now());
      const [from, to] = [dayOf(last, days - 1), dayOf(last, 0)];
      const read = await readUsageHistory(db, { organizationId, from, to, by, limit: usageRows + 1 });
      const heldCredits = await readHeldCredits(db, organizationId);
      return { from, to, heldCredits, items: read.slice(0, usageRows), more: read.length > usageRows };
    }),

    costs: procedure(contract.organizations.costs, async ({ input, authorize }) => {
      const { organizationId, days, by, cursor } = input;
      await authorize(organizationId);
      const last = new Date(input.to ?? Date.now());
      const [from, to] = [dayOf(last, days - 1), dayOf(last, 0)];
      const page = await readCosts(db, cursors, config.prices?.prices ?? [], { organizationId, from, to, by, limit: usageRows, cursor });
      return { from, to, currency: config.prices?.currency ?? null, ...page };
    }),

    auditLog: procedure(contract.organizations.auditLog, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      const page = await listAuditEntries(db, cursors, input);
      return { entries: page.items.map((entry) => toAuditEntry(entry)), nextCursor: page.nextCursor };
    }),

    auditFeed: procedure(contract.organizations.auditFeed, async ({ input, caller, authorize, request }) => {
      await authorize(input.organizationId);
      const wait = { maxMs: input.wait * 1_000, signal: request.signal, isOver: () => readiness.stopping };
      const entries = await awaitAuditFeed(db, input, wait);
      if (input.wait > 0 && entries.length > 0)
        await checkStill(sessionsDb, caller, { organizationId: input.organizationId, permission: 'auditLog:read' });
      return {
        entries: entries.map((entry) => ({ ...toAuditEntry(entry), sequence: entry.sequence })),
        last: entries.at(-1)?.sequence ?? input.after,
      };
    }),

    holds: procedure(contract.organizations.holds, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      return (await listHolds(db, input.organizationId)).map(toHold);
    }),

    setHold: procedure(contract.organizations.setHold, async ({ input, actor, authorize }) => {
      await authorizeHold(input, authorize);
      return toHold(await inTransaction(db, (trx) => setHold(trx, actor, input)));
    }),

    liftHold: procedure(contract.organizations.liftHold, async ({ input, actor, authorize }) => {
      await authorizeHold(input, authorize);
      await inTransaction(db, (trx) => liftHold(trx, actor, input));
      return { organizationId: input.organizationId, workspaceId: input.workspaceId ?? null };
    }),

    delete: procedure(contract.organizations.delete, async ({ input, actor, authorize }) => {
      await authorize(input.organizationId);
      return await deleteOrganization(deps, actor, input);
    }),
  };

  /** Throws FORBIDDEN also if the workspace is of another organization, NOT_FOUND if there is none. */
  async function authorizeHold(
    { organizationId, workspaceId }: { organizationId: string; workspaceId?: string | undefined },
    authorize: Authorize,
  ): Promise<void> {
    await authorize(organizationId);
    if (workspaceId === undefined) return;
    const workspace = await getWorkspace(db, workspaceId);
    if (workspace.organization_id !== organizationId) throw new ApiError('FORBIDDEN');
  }
}

function toHold({ organization_id, workspace_id, reason, since }: HoldRow) {
  return { organizationId: organization_id, workspaceId: workspace_id, reason, since: since.toISOString() };
}

/** The day, in UTC, so many days before a time: `2026-11-30`. */
function dayOf(time: Date, daysBefore: number): string {
  return new Date(time.getTime() - daysBefore * 86_400_000).toISOString().slice(0, 10);
}
