import type { AuditEntryRow } from '../../domain/audit.ts';

/** An audit entry as the API shows it; its organization is null if the entry belongs to none. */
export function toAuditEntry<OrganizationId extends string | null>(entry: AuditEntryRow & { organization_id: OrganizationId }) {
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
