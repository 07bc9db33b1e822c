import { type Selectable, sql } from 'kysely';
import type { Actor } from '../db/actor.ts';
import { anyOf } from '../db/batched-read.ts';
import type { Db, Transaction } from '../db/connect.ts';
import type { AuditEntryTable } from '../db/schema.ts';
import { newId } from './ids.ts';
import { type Cursors, cursorAfter, fitPage, maxPageBytes, type Page, readRows, rowBytes } from './page.ts';

export type { Actor };

/** The actor of changes that no person makes, such as retention and sweeps. */
export const systemActor: Actor = { userId: null, email: null, impersonatedBy: null };

interface AuditEvent {
  /** The id of an event that may be reported twice: a second entry with the same id changes nothing. */
  id?: string;
  organizationId: string | null;
  action: string;
  /** What the entry is about: `document` of `document.create`, for example, unless another type is given. */
  targetType?: string;
  targetId: string;
  metadata?: Record<string, unknown>;
}

/** Writes an audit entry, in the transaction of the change that it records (docs/rules.md, audit with the change). */
export async function recordAudit(trx: Transaction, actor: Actor, event: AuditEvent): Promise<void> {
  await trx
    .insertInto('audit_entry')
    .values({
      id: event.id ?? newId(),
      organization_id: event.organizationId,
      actor_id: actor.userId,
      actor_email: actor.email,
      impersonated_by: actor.impersonatedBy,
      action: event.action,
      target_type: event.targetType ?? event.action.replace(/\..*/, ''),
      target_id: event.targetId,
      metadata: event.metadata ? JSON.stringify(event.metadata) : null,
    })
    .$if(event.id !== undefined, (insert) => insert.onConflict((conflict) => conflict.column('id').doNothing()))
    .execute();
}

/** An audit entry as the database holds it. */
export type AuditEntryRow = Selectable<AuditEntryTable>;

/** A filter on an audit log. An absent field does not filter. */
interface AuditFilter {
  organizationId?: string | undefined;
  actorId?: string | undefined;
  targetId?: string | undefined;
}

interface Paging {
  limit: number;
  cursor?: string | undefined;
}

/**
 * A page of an organization's audit log, newest first, that ends after `limit` entries or 4 MiB. Throws BAD_REQUEST for a cursor of another
 * list or organization.
 */
export async function listAuditEntries(
  db: Db,
  cursors: Cursors,
  { limit, cursor, ...filter }: AuditFilter & { organizationId: string } & Paging,
): Promise<Page<AuditEntryRow & { organization_id: string }>> {
  const { organizationId } = filter;
  const page = await listPage(db, cursors, `audit:${organizationId}`, filter, { limit, cursor });
  return { ...page, items: page.items.map((entry) => ({ ...entry, organization_id: organizationId })) };
}

/** A page of the platform's audit log, with the entries that belong to no organization. Throws BAD_REQUEST for a cursor of another list. */
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
  const conditions = [
    sql`true`,
    ...(organizationId === undefined ? [] : [sql`organization_id = ${organizationId}`]),
    ...(actorId === undefined ? [] : [sql`actor_id = ${actorId}`]),
    ...(targetId === undefined ? [] : [sql`target_id = ${targetId}`]),
    ...(after ? [sql`(created_at, id) < (${after.at}, ${after.id})`] : []),
  ];
  // Entries are measured, since the metadata may hold names without a bound on their length.
  const sized = sql`
    select id, created_at as at, ${sql.lit(rowBytes)} + coalesce(octet_length(metadata::text), 0) as bytes from audit_entry
    where ${sql.join(conditions, sql` and `)} order by created_at desc, id desc limit ${limit + 1}
  `;
  const page = await fitPage(db, sized, { order: 'desc', limit, maxBytes: maxPageBytes });
  const read = (ids: string[]) => db.selectFrom('audit_entry').selectAll().where('id', '=', anyOf(ids)).execute();
  const items = await readRows(page, read);
  return { items, nextCursor: cursorAfter(page, cursors, scope) };
}
