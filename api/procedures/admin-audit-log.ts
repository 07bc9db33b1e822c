import { contract } from '../../contract/index.ts';
import { listPlatformAuditEntries } from '../../domain/audit.ts';
import type { ApiDeps } from '../deps.ts';
import { toAuditEntry } from '../presenters/audit-entry.ts';
import { procedure } from '../procedure.ts';

/** `admin.auditLog`: the entries of all organizations, and those of none. */
export function platformAuditLog({ db, cursors }: ApiDeps) {
  return procedure(contract.admin.auditLog, async ({ input }) => {
    const page = await listPlatformAuditEntries(db, cursors, input);
    return { entries: page.items.map((entry) => toAuditEntry(entry)), nextCursor: page.nextCursor };
  });
}
