import type { Transaction } from '../../db/connect.ts';
import type { Actor } from '../actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { lockFlag } from '../locks.ts';

/** Removes a flag and its overrides; each override that goes is told in its organization's log. Throws NOT_FOUND. */
export async function deleteFlag(trx: Transaction, actor: Actor, key: string): Promise<void> {
  const flag = await lockFlag(trx, key);
  const overrides = await trx.deleteFrom('feature_flag_override').where('flag_key', '=', key).returningAll().execute();
  await trx.deleteFrom('feature_flag').where('key', '=', key).execute();
  const target = { targetType: 'flag', targetId: key };
  await recordAudit(trx, actor, {
    organizationId: null,
    action: 'flag.delete',
    ...target,
    metadata: { description: flag.description, enabled: flag.enabled, overrides: overrides.length },
  });
  for (const { organization_id: organizationId, enabled } of overrides) {
    await recordAudit(trx, actor, { organizationId, action: 'flag.override', ...target, metadata: { from: enabled, to: null } });
  }
}
