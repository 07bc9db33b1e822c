import { type Selectable, sql } from 'kysely';
import type { Actor } from '../db/actor.ts';
import type { Db, Transaction } from '../db/connect.ts';
import type { AuditEntryTable } from '../db/schema.ts';
import { newId } from './ids.ts';
import { type Cursors, type Page, toPage } from './page.ts';

export type { Actor };

/** The actor of what no person does: retention, sweeps. */
export const systemActor: Actor = { userId: null, email: null, impersonatedBy: null };

export interface AuditEvent {
  organizationId: string | null;
  action: string;
  targetType: string;
  targetId: string;
  metadata?: Record<string, unknown>;
}

/** Writes an audit entry, in the transaction of the change that it records (docs/rules.md, audit with the change). */
export async function recordAudit(trx: Transaction, actor: Actor, event: AuditEvent): Promise<void> {
  await trx
    .insertInto('audit_entry')
    .values({
      id: newId(),
      organization_id: event.organizationId,
      actor_id: actor.userId,
      actor_email: actor.email,
      impersonated_by: actor.impersonatedBy,
      action: event.action,
      target_type: event.targetType,
      target_id: event.targetId,
      metadata: event.metadata ? JSON.stringify(event.metadata) : null,
    })
    .execute();
}

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
