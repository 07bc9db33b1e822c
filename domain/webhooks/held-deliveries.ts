import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { startWebhook } from '../../workflows/definitions.ts';

// A delivery is held, as a row without a workflow, while its endpoint fails or takes no more at once: what a receiver does not take costs
// nothing but its row. db/rules/webhooks.sql holds new ones, too.

/** How many are started for each that the endpoint has accepted: more and more as long as it keeps up. */
const startedByOne = 2;
/** How many the sweep ends at once of an endpoint that takes none any more. */
const endedAtOnce = 10_000;

/** Holds a pending delivery, whose workflow ends. */
export async function holdDelivery(db: Db, deliveryId: string): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({ held: true, next_attempt_at: null })
    .where('id', '=', deliveryId)
    .where('status', '=', 'pending')
    .execute();
}

/** Starts the oldest deliveries that are held for an endpoint. */
export async function startHeld(trx: Transaction, endpointId: string, count: number = startedByOne): Promise<void> {
  const { rows } = await sql<{ id: string; organization_id: string }>`
    update webhook_delivery set held = false where id in (
      select id from webhook_delivery where endpoint_id = ${endpointId} and held
      order by created_at, id limit ${count} for no key update skip locked
    ) returning id, organization_id
  `.execute(trx);
  // The run that has held it may not have ended yet: then it looks again.
  for (const { id, organization_id: organizationId } of rows)
    addToOutbox(trx, startWebhook({ deliveryId: id, endpointId, organizationId }, 'again'));
}

/**
 * Once a minute: starts one held delivery of each endpoint, to see whether it works again, and ends those whose endpoint is disabled or
 * gone. While webhooks are off no worker sends any, and all stay held.
 */
export async function sweepHeldDeliveries(db: Db): Promise<void> {
  const { rows } = await sql<{ id: string; enabled: boolean | null }>`
    with recursive waited as (
      (select endpoint_id as id from webhook_delivery where held order by endpoint_id limit 1)
      union all
      select (select endpoint_id from webhook_delivery where held and endpoint_id > waited.id order by endpoint_id limit 1)
      from waited where waited.id is not null
    )
    select waited.id, endpoint.enabled from waited left join webhook_endpoint as endpoint on endpoint.id = waited.id
    where waited.id is not null and exists (select from webhook_switch)
  `.execute(db);
  for (const { id, enabled } of rows) {
    if (enabled) await inTransaction(db, (trx) => startHeld(trx, id, 1));
    else await endHeld(db, id, enabled === null ? 'The endpoint was deleted.' : 'The endpoint is disabled.');
  }
}

async function endHeld(db: Db, endpointId: string, error: string): Promise<void> {
  await sql`
    update webhook_delivery set held = false, status = 'failed', error = ${error}, next_attempt_at = null, finished_at = clock_timestamp()
    where id in (select id from webhook_delivery where endpoint_id = ${endpointId} and held order by created_at, id limit ${endedAtOnce})
  `.execute(db);
}
