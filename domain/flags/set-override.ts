import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { Actor } from '../actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { lockFlag, lockOrganization } from '../locks.ts';
import { type Flag, getFlag } from './get-flag.ts';

export interface Override {
  key: string;
  organizationId: string;
  /** Null removes the override. */
  enabled: boolean | null;
}

/**
 * Sets a flag for one organization, or removes that. The entry stands in the organization's audit log. Throws NOT_FOUND where
 * there is no such flag or organization.
 */
export async function setOverride(trx: Transaction, actor: Actor, { key, organizationId, enabled }: Override): Promise<Flag> {
  await lockOrganization(trx, organizationId);
  await lockFlag(trx, key);
  const before = await trx
    .selectFrom('feature_flag_override')
    .select('enabled')
    .where('flag_key', '=', key)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  const previous = before?.enabled ?? null;
  if (previous === enabled) return getFlag(trx, key);
  if (enabled === null) await remove(trx, key, organizationId);
  else await write(trx, { key, organizationId, enabled });
  await trx.updateTable('feature_flag').set({ updated_at: sql`clock_timestamp()` }).where('key', '=', key).execute();
  await recordAudit(trx, actor, {
    organizationId,
    action: 'flag.override',
    targetType: 'flag',
    targetId: key,
    metadata: { from: previous, to: enabled },
  });
  return getFlag(trx, key);
}

async function write(trx: Transaction, override: { key: string; organizationId: string; enabled: boolean }): Promise<void> {
  const { key, organizationId, enabled } = override;
  await trx
    .insertInto('feature_flag_override')
    .values({ flag_key: key, organization_id: organizationId, enabled })
    .onConflict((conflict) => conflict.columns(['flag_key', 'organization_id']).doUpdateSet({ enabled }))
    .execute();
}

async function remove(trx: Transaction, key: string, organizationId: string): Promise<void> {
  await trx.deleteFrom('feature_flag_override').where('flag_key', '=', key).where('organization_id', '=', organizationId).execute();
}
