import type { Transaction } from '../../db/connect.ts';
import type { Actor } from '../actor.ts';
import { newId } from '../ids.ts';

export interface AuditEvent {
  organizationId: string | null;
  action: string;
  targetType: string;
  targetId: string;
  metadata?: Record<string, unknown>;
}

/** Writes an audit entry in the transaction of the change it records. */
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
