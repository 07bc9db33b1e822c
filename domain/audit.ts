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
