import type { ApiKeyRow } from '../../domain/api-keys/api-key.ts';
import { type KeyCaller, keyMay } from '../auth/api-key.ts';

/** A key as the API shows it. */
export function toApiKey(key: ApiKeyRow) {
  return {
    id: key.id,
    organizationId: key.organization_id,
    workspaceId: key.workspace_id,
    name: key.name,
    prefix: key.prefix,
    permissions: key.permissions,
    requestsPerMinute: key.requests_per_minute,
    creditBudget: key.credit_budget,
    status: key.status,
    responsibleId: key.responsible_id,
    expiresAt: key.expires_at?.toISOString() ?? null,
    overlapEndsAt: key.overlap_ends_at?.toISOString() ?? null,
    lastUsedAt: key.last_used_at?.toISOString() ?? null,
    createdAt: key.created_at.toISOString(),
  };
}

/** A key as it is shown to itself. */
export function toCurrentKey(key: KeyCaller) {
  const { keyId: id, name, organizationId, workspaceId, permissions, requestsPerMinute, expiresAt } = key;
  return {
    ...{ id, name, organizationId, workspaceId, requestsPerMinute },
    permissions: permissions.filter((permission) => keyMay(key, organizationId, workspaceId, permission)),
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}
