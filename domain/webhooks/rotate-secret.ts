import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { createSecret } from './create-secret.ts';
import { type EndpointRow, lockEndpoint } from './endpoint.ts';

/**
 * Gives an endpoint a new secret. The previous one signs, too, for `overlapHours` by the database's clock; older ones do not. Throws NOT_FOUND if
 * the endpoint is gone.
 */
export async function rotateSecret(
  trx: Transaction,
  actor: Actor,
  { id }: Pick<EndpointRow, 'id'>,
  overlapHours: number,
): Promise<EndpointRow> {
  const before = await lockEndpoint(trx, id);
  const overlaps = overlapHours > 0;
  const rotated = await trx
    .updateTable('webhook_endpoint')
    .set({
      ...createSecret(before.signature),
      previous_secret: overlaps ? before.secret : null,
      previous_secret_until: overlaps ? sql<Date>`now() + make_interval(hours => ${overlapHours}::int)` : null,
      updated_at: sql`clock_timestamp()`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, {
    organizationId: before.organization_id,
    action: 'webhook.rotate',
    targetType: 'webhook',
    targetId: id,
    metadata: { overlapHours },
  });
  return rotated;
}
