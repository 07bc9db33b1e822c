import { contract } from '../../contract/index.ts';
import { listAuditEntries } from '../../domain/audit.ts';
import { getUsage } from '../../domain/organizations/get-usage.ts';
import type { ApiDeps } from '../deps.ts';
import { toAuditEntry } from '../presenters/audit-entry.ts';
import { procedure } from '../procedure.ts';

export function organizationProcedures({ db, getPlan, cursors }: ApiDeps) {
  return {
    usage: procedure(contract.organizations.usage, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      const plan = await getPlan(db, input.organizationId);
      const { period, ...usage } = await getUsage(db, input.organizationId);
      return {
        plan: plan?.plan ?? null,
        limits: plan?.limits ?? null,
        usage,
        period: { start: period.start.toISOString(), end: period.end.toISOString() },
      };
    }),

    auditLog: procedure(contract.organizations.auditLog, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      const page = await listAuditEntries(db, cursors, input);
      return { entries: page.items.map((entry) => toAuditEntry(entry)), nextCursor: page.nextCursor };
    }),
  };
}
