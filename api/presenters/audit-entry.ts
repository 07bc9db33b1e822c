import type { AuditEntryRow } from '../../domain/audit.ts';

/** An audit entry as the API shows it. */
export function toAuditEntry(entry: AuditEntryRow) {
  return {
    id: entry.id,
    organizationId: entry.organization_id,
    actorId: entry.actor_id,
    actorEmail: entry.actor_email,
    impersonatedBy: entry.impersonated_by,
    action: entry.action,
    targetType: entry.target_type,
    targetId: entry.target_id,
    metadata: entry.metadata,
    createdAt: entry.created_at.toISOString(),
  };
}
