import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { lockFlag, lockOrganization } from '../locks.ts';
import { type Flag, type FlagRow, getFlag } from './flag.ts';

interface FlagValues {
  description?: string | undefined;
  enabled?: boolean | undefined;
}

/** Creates a flag, off and without a description by default, or changes those values of an existing one that are given. */
export async function upsertFlag(trx: Transaction, actor: Actor, key: string, values: FlagValues): Promise<Flag> {
  // The empty update locks a flag that exists and returns it unchanged; `xmax` is 0 for a row that this statement inserted.
  const { created, ...before } = await trx
    .insertInto('feature_flag')
    .values({ key, description: values.description ?? '', enabled: values.enabled ?? false })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ key }))
    .returningAll()
    .returning(sql<boolean>`xmax = 0`.as('created'))
    .executeTakeFirstOrThrow();
  if (created) await recordFlag(trx, actor, 'flag.create', before, { description: before.description, enabled: before.enabled });
  else await updateFlag(trx, actor, before, values);
  return getFlag(trx, key);
}

async function updateFlag(trx: Transaction, actor: Actor, before: FlagRow, values: FlagValues): Promise<void> {
  const names = (['description', 'enabled'] as const).filter((name) => values[name] !== undefined && values[name] !== before[name]);
  if (names.length === 0) return;
  const changed = Object.fromEntries(names.map((name) => [name, values[name]]));
  await trx
    .updateTable('feature_flag')
    .set({ ...changed, updated_at: sql`clock_timestamp()` })
    .where('key', '=', before.key)
    .execute();
  const metadata = Object.fromEntries(names.map((name) => [name, { from: before[name], to: values[name] }]));
  await recordFlag(trx, actor, 'flag.update', before, metadata);
}

/** Deletes a flag with its overrides; each override is audited in the log of its organization. Throws NOT_FOUND. */
export async function deleteFlag(trx: Transaction, actor: Actor, key: string): Promise<void> {
  const flag = await lockFlag(trx, key);
  const overrides = await trx.deleteFrom('feature_flag_override').where('flag_key', '=', key).returningAll().execute();
  await trx.deleteFrom('feature_flag').where('key', '=', key).execute();
  const { description, enabled } = flag;
  await recordFlag(trx, actor, 'flag.delete', flag, { description, enabled, overrides: overrides.length });
  for (const override of overrides) await recordOverride(trx, actor, override.organization_id, key, { from: override.enabled, to: null });
}

interface Override {
  key: string;
  organizationId: string;
  /** Null removes the override. */
  enabled: boolean | null;
}

/** Sets a flag for one organization, or removes that override. Throws NOT_FOUND if there is no such flag or organization. */
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
  if (enabled === null) await removeOverride(trx, key, organizationId);
  else await writeOverride(trx, { key, organizationId, enabled });
  await trx.updateTable('feature_flag').set({ updated_at: sql`clock_timestamp()` }).where('key', '=', key).execute();
  await recordOverride(trx, actor, organizationId, key, { from: previous, to: enabled });
  return getFlag(trx, key);
}

async function writeOverride(trx: Transaction, override: { key: string; organizationId: string; enabled: boolean }): Promise<void> {
  const { key, organizationId, enabled } = override;
  await trx
    .insertInto('feature_flag_override')
    .values({ flag_key: key, organization_id: organizationId, enabled })
    .onConflict((conflict) => conflict.columns(['flag_key', 'organization_id']).doUpdateSet({ enabled }))
    .execute();
}

async function removeOverride(trx: Transaction, key: string, organizationId: string): Promise<void> {
  await trx.deleteFrom('feature_flag_override').where('flag_key', '=', key).where('organization_id', '=', organizationId).execute();
}

/** Records a change of a flag itself, which belongs to no organization's log. */
async function recordFlag(trx: Transaction, actor: Actor, action: string, flag: FlagRow, metadata: Record<string, unknown>): Promise<void> {
  await recordAudit(trx, actor, { organizationId: null, action, targetId: flag.key, metadata });
}

async function recordOverride(
  trx: Transaction,
  actor: Actor,
  organizationId: string,
  key: string,
  metadata: { from: boolean | null; to: boolean | null },
): Promise<void> {
  await recordAudit(trx, actor, { organizationId, action: 'flag.override', targetId: key, metadata });
}
