import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { Actor } from '../actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { type Flag, type FlagRow, getFlag } from './get-flag.ts';

export interface FlagValues {
  description?: string | undefined;
  enabled?: boolean | undefined;
}

/** Creates a flag, off and without description unless told otherwise, or changes what is given of the one with this key. */
export async function upsertFlag(trx: Transaction, actor: Actor, key: string, values: FlagValues): Promise<Flag> {
  // The empty update locks a flag that exists and answers it as it is; `xmax` is 0 for a row that this statement made.
  const { created, ...before } = await trx
    .insertInto('feature_flag')
    .values({ key, description: values.description ?? '', enabled: values.enabled ?? false })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ key }))
    .returningAll()
    .returning(sql<boolean>`xmax = 0`.as('created'))
    .executeTakeFirstOrThrow();
  if (created) await recordFlag(trx, actor, 'flag.create', before, { description: before.description, enabled: before.enabled });
  else await change(trx, actor, before, values);
  return getFlag(trx, key);
}

async function change(trx: Transaction, actor: Actor, before: FlagRow, values: FlagValues): Promise<void> {
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

/** An entry about the flag itself, which stands in no organization's log. */
async function recordFlag(trx: Transaction, actor: Actor, action: string, flag: FlagRow, metadata: Record<string, unknown>): Promise<void> {
  await recordAudit(trx, actor, { organizationId: null, action, targetType: 'flag', targetId: flag.key, metadata });
}
