import type { Flag } from '../../domain/flags/flag.ts';

/** A feature flag as platform admins see it. */
export function toFlag(flag: Flag) {
  return {
    key: flag.key,
    description: flag.description,
    enabled: flag.enabled,
    overrides: flag.overrides.map(({ organization_id, enabled }) => ({ organizationId: organization_id, enabled })),
    createdAt: flag.created_at.toISOString(),
    updatedAt: flag.updated_at.toISOString(),
  };
}
