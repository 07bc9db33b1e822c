import { sql } from 'kysely';
import { startWebhook, workflowIds } from '../../contract/intents/definitions.ts';
import { webhookTest } from '../../contract/webhook-events.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';

// A delivery is held, as a row without a workflow, while its endpoint fails or takes no more at once: what a receiver does not take costs
// nothing but its row. db/triggers/webhooks.sql holds new ones, too.

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
 * Once a day: holds the pending deliveries whose workflow is gone, with Temporal's database or by an operator, so that the sweep starts them
 * again. One whose workflow only waits for a worker is sent once, since the row decides. Returns how many.
 */
export async function holdLostDeliveries(db: Db): Promise<number> {
  const { numAffectedRows } = await sql`
    update webhook_delivery set held = true, next_attempt_at = null where not held and id in (
      select lost.id from organization cross join lateral (
        select id from webhook_delivery as delivery
        where delivery.organization_id = organization.id and status = 'pending' and not held and event <> ${webhookTest}
          and coalesce(next_attempt_at, created_at) < now() - interval '1 hour'
          and not exists (select from outbox where workflow_id = ${workflowIds.deliverWebhook('')} || delivery.id)
      ) as lost
    )
  `.execute(db);
  return Number(numAffectedRows ?? 0);
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
  const failures: unknown[] = [];
  for (const { id, enabled } of rows) {
    const started = enabled
      ? inTransaction(db, (trx) => startHeld(trx, id, 1))
      : endHeld(db, id, enabled === null ? 'The endpoint was deleted.' : 'The endpoint is disabled.');
    await started.catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

async function endHeld(db: Db, endpointId: string, error: string): Promise<void> {
  await sql`
    update webhook_delivery set held = false, status = 'failed', error = ${error}, next_attempt_at = null, finished_at = clock_timestamp()
    where id in (select id from webhook_delivery where endpoint_id = ${endpointId} and held order by created_at, id limit ${endedAtOnce})
  `.execute(db);
}
