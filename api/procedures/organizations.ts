import { contract } from '../../contract/index.ts';
import { usageRows } from '../../contract/organizations.ts';
import { listAuditEntries } from '../../domain/audit.ts';
import { readAuditFeed } from '../../domain/audit-feed.ts';
import { readHeldCredits, readUsageHistory } from '../../domain/credits/usage-history.ts';
import { getUsage } from '../../domain/organizations/get-usage.ts';
import { findSuspension } from '../../domain/organizations/suspension.ts';
import type { ApiDeps } from '../deps.ts';
import { toAuditEntry } from '../presenters/audit-entry.ts';
import { toSuspension } from '../presenters/organization.ts';
import { procedure } from '../procedure.ts';
import { deleteOrganization } from './delete-organization.ts';

export function organizationProcedures(deps: ApiDeps) {
  const { db, getPlan, cursors } = deps;
  return {
    usage: procedure(contract.organizations.usage, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      const plan = await getPlan(db, input.organizationId);
      const { period, ...usage } = await getUsage(db, input.organizationId);
      const suspension = await findSuspension(db, input.organizationId);
      return {
        ...(suspension && { suspension: toSuspension(suspension) }),
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

    auditLog: procedure(contract.organizations.auditLog, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      const page = await listAuditEntries(db, cursors, input);
      return { entries: page.items.map((entry) => toAuditEntry(entry)), nextCursor: page.nextCursor };
    }),

    auditFeed: procedure(contract.organizations.auditFeed, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      const entries = await readAuditFeed(db, input);
      return {
        entries: entries.map((entry) => ({ ...toAuditEntry(entry), sequence: entry.sequence })),
        last: entries.at(-1)?.sequence ?? input.after,
      };
    }),

    delete: procedure(contract.organizations.delete, async ({ input, actor, authorize }) => {
      await authorize(input.organizationId);
      return await deleteOrganization(deps, actor, input);
    }),
  };
}

/** The day, in UTC, so many days before a time: `2026-11-30`. */
function dayOf(time: Date, daysBefore: number): string {
  return new Date(time.getTime() - daysBefore * 86_400_000).toISOString().slice(0, 10);
}
