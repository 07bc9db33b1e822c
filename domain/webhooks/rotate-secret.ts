import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import type { SecretBox } from '../secret-box.ts';
import { createSecret } from './create-secret.ts';
import { type EndpointRow, lockEndpoint } from './endpoint.ts';

/**
 * Gives an endpoint a new secret. The previous one signs, too, for `overlapHours` by the database's clock, if it can be read; older ones do
 * not. Throws NOT_FOUND if the endpoint is gone.
 */
export async function rotateSecret(
  trx: Transaction,
  actor: Actor,
  { id }: Pick<EndpointRow, 'id'>,
  { overlapHours, secrets }: { overlapHours: number; secrets: SecretBox },
): Promise<EndpointRow> {
  const before = await lockEndpoint(trx, id);
  const { secret, public_key: publicKey } = createSecret(before.signature);
  const overlaps = overlapHours > 0 && secrets.tryOpen(before.secret) !== undefined;
  const rotated = await trx
    .updateTable('webhook_endpoint')
    .set({
      secret: secrets.seal(secret),
      public_key: publicKey,
      previous_secret: overlaps ? secrets.seal(before.secret) : null,
      previous_secret_until: overlaps ? sql<Date>`now() + make_interval(hours => ${overlapHours}::int)` : null,
      updated_at: sql`clock_timestamp()`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, {
    organizationId: before.organization_id,
    action: 'webhook.rotate',
    targetId: id,
    metadata: { overlapHours },
  });
  return rotated;
}
