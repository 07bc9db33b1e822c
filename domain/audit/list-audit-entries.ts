import { type Selectable, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { AuditEntryTable } from '../../db/schema.ts';
import type { Cursors } from '../cursor.ts';
import { type Page, toPage } from '../page.ts';

/** An audit entry as the database holds it. */
export type AuditEntryRow = Selectable<AuditEntryTable>;

/** Which entries of the platform's audit log are wanted; what is absent does not narrow. */
export interface AuditFilter {
  organizationId?: string | undefined;
  actorId?: string | undefined;
  targetId?: string | undefined;
}

interface Paging {
  limit: number;
  cursor?: string | undefined;
}

/** A page of an organization's audit log, newest first. Throws BAD_REQUEST for a cursor of another list or organization. */
export async function listAuditEntries(
  db: Db,
  cursors: Cursors,
  { organizationId, ...paging }: { organizationId: string } & Paging,
): Promise<Page<AuditEntryRow & { organization_id: string }>> {
  const page = await listPage(db, cursors, `audit:${organizationId}`, { organizationId }, paging);
  return { ...page, items: page.items.map((entry) => ({ ...entry, organization_id: organizationId })) };
}

/** A page of the audit log of all organizations and of none, newest first. Throws BAD_REQUEST for a cursor of another list. */
export async function listPlatformAuditEntries(
  db: Db,
  cursors: Cursors,
  { limit, cursor, ...filter }: AuditFilter & Paging,
): Promise<Page<AuditEntryRow>> {
  return listPage(db, cursors, 'platform-audit', filter, { limit, cursor });
}

async function listPage(db: Db, cursors: Cursors, scope: string, filter: AuditFilter, { limit, cursor }: Paging) {
  const { organizationId, actorId, targetId } = filter;
  const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
  const rows = await db
    .selectFrom('audit_entry')
    .selectAll()
    .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId ?? ''))
    .$if(actorId !== undefined, (query) => query.where('actor_id', '=', actorId ?? ''))
    .$if(targetId !== undefined, (query) => query.where('target_id', '=', targetId ?? ''))
    .$if(after !== undefined, (query) => query.where(sql<boolean>`(created_at, id) < (${after?.createdAt}, ${after?.id})`))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows, limit, cursors, scope);
}
