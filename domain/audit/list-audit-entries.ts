import { type Selectable, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { AuditEntryTable } from '../../db/schema.ts';
import type { Cursors } from '../cursor.ts';
import { type Page, toPage } from '../page.ts';

/** An audit entry as the database holds it. */
export type AuditEntryRow = Selectable<AuditEntryTable>;

/** A page of an organization's audit log, newest first. */
export async function listAuditEntries(
  db: Db,
  cursors: Cursors,
  { organizationId, limit, cursor }: { organizationId: string; limit: number; cursor?: string | undefined },
): Promise<Page<AuditEntryRow>> {
  const scope = `audit:${organizationId}`;
  const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
  let query = db
    .selectFrom('audit_entry')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1);
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`);
  return toPage(await query.execute(), limit, cursors, scope);
}
