import { sql } from 'kysely';
import { startWebhook } from '../../contract/intents/definitions.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { type Actor, recordAudit } from '../audit.ts';
import type { Cursors } from '../page.ts';
import { type DeliveryFilter, type DeliveryRow, getDelivery, matches } from './delivery.ts';

/** How many deliveries one request sends again. */
const maxResent = 1_000;
/** How many of an endpoint begin at once. The others are held until it has accepted some. */
const startedAtOnce = 8;

interface ResendFilter extends DeliveryFilter {
  from?: string | undefined;
  to?: string | undefined;
  /** `nextCursor` of an earlier request: continues after the deliveries of that one. */
  cursor?: string | undefined;
  /** Counts the deliveries, and sends none. */
  dryRun: boolean;
}

/** Sends a delivery again, with new attempts. One that is pending is left as it is. Throws NOT_FOUND. */
export async function resendDelivery(trx: Transaction, actor: Actor, delivery: DeliveryRow): Promise<DeliveryRow> {
  const { id, organization_id: organizationId } = delivery;
  await restart(trx, [id]);
  await recordAudit(trx, actor, { organizationId, action: 'webhook.resend', targetType: 'webhook_delivery', targetId: id });
  return await getDelivery(trx, id);
}

/**
 * Sends the finished deliveries again that match, the oldest first, at most 1,000. `more`: others are left, after `nextCursor`. Throws
 * BAD_REQUEST if the cursor is another's.
 */
export async function resendDeliveries(
  trx: Transaction,
  actor: Actor,
  cursors: Cursors,
  { from, to, cursor, dryRun, ...filter }: ResendFilter,
): Promise<{ matched: number; resent: number; more: boolean; nextCursor: string | null }> {
  const { organizationId } = filter;
  const scope = `resend-webhooks:${organizationId}`;
  const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
  const { rows } = await sql<{ id: string; created_at: Date }>`
    select id, created_at from webhook_delivery
    where ${matches(filter)} and status <> 'pending'
      ${from === undefined ? sql`` : sql`and created_at >= ${from}::timestamptz`}
      ${to === undefined ? sql`` : sql`and created_at < ${to}::timestamptz`}
      ${after === undefined ? sql`` : sql`and (created_at, id) > (${after.at}, ${after.id})`}
    order by created_at, id limit ${maxResent + 1}
  `.execute(trx);
  const ids = rows.slice(0, maxResent).map(({ id }) => id);
  const more = rows.length > maxResent;
  const last = more ? rows[maxResent - 1] : undefined;
  const nextCursor = last ? cursors.encode(scope, { at: last.created_at, id: last.id }) : null;
  const counts = { matched: ids.length, more, nextCursor };
  if (dryRun || ids.length === 0) return { ...counts, resent: 0 };
  const resent = await restart(trx, ids);
  await recordAudit(trx, actor, {
    organizationId,
    action: 'webhook.resend',
    targetType: 'organization',
    targetId: organizationId,
    metadata: { ...filter, from, to, resent },
  });
  return { ...counts, resent };
}

/** Makes finished deliveries pending, and asks for the workflows of the oldest. Returns how many. */
async function restart(trx: Transaction, ids: string[]): Promise<number> {
  const { rows } = await sql<{ id: string; organization_id: string; endpoint_id: string; held: boolean }>`
    with locked as materialized (
      select id, endpoint_id, created_at from webhook_delivery
      where id = any(${ids}::text[]) and status <> 'pending' order by id for no key update
    ), numbered as (
      select id, row_number() over (partition by endpoint_id order by created_at, id) as number from locked
    )
    update webhook_delivery set
      status = 'pending', tries = 0, error = null, finished_at = null, next_attempt_at = null, held = number > ${startedAtOnce}
    from numbered where webhook_delivery.id = numbered.id
    returning webhook_delivery.id, organization_id, endpoint_id, held
  `.execute(trx);
  for (const { id, organization_id, endpoint_id } of rows.filter(({ held }) => !held))
    addToOutbox(trx, startWebhook({ deliveryId: id, endpointId: endpoint_id, organizationId: organization_id }, 'again'));
  return rows.length;
}
