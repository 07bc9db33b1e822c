import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { lockOrganization } from '../locks.ts';
import { type ApiKeyRow, apiKeyNotFound, getApiKey } from './api-key.ts';
import { expiryAfter, type SecretKey } from './create-api-key.ts';
import { hashSecret, makeSecret, prefixOf } from './secret.ts';

/**
 * Gives a key a new secret, and makes the actor responsible for it. The present secret stays valid for `overlapSeconds`, but never beyond
 * its own end, and with the rights of its own responsible member. An older secret ends now. Throws NOT_FOUND if the key is gone.
 */
export async function rotateApiKey(
  trx: Transaction,
  actor: Actor,
  { id, organization_id: organizationId, lifetime_days: lifetimeDays }: Pick<ApiKeyRow, 'id' | 'organization_id' | 'lifetime_days'>,
  overlapSeconds: number,
): Promise<SecretKey> {
  await lockOrganization(trx, organizationId);
  const secret = makeSecret();
  const rotated = await trx
    .updateTable('api_key')
    .set({
      responsible_id: actor.userId,
      previous_responsible_id: sql<string | null>`responsible_id`,
      prefix: prefixOf(secret),
      hash: hashSecret(secret),
      expires_at: expiryAfter(lifetimeDays),
      previous_hash: sql<string>`hash`,
      previous_expires_at: sql<Date>`least(expires_at, now() + make_interval(secs => ${overlapSeconds}))`,
    })
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (rotated.numUpdatedRows === 0n) throw apiKeyNotFound();
  const metadata = { overlapSeconds };
  await recordAudit(trx, actor, { organizationId, action: 'apiKey.rotate', targetId: id, metadata });
  return { key: await getApiKey(trx, id), secret };
}
