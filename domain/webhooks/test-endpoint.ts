import { startWebhook } from '../../contract/intents/definitions.ts';
import { webhookTest } from '../../contract/webhook-events.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { newId } from '../ids.ts';
import type { DeliveryRow } from './delivery.ts';
import { lockEndpoint } from './endpoint.ts';

/** Sends a test event to an endpoint, enabled or not. Throws NOT_FOUND if it is gone. */
export async function testEndpoint(trx: Transaction, actor: Actor, endpointId: string): Promise<DeliveryRow> {
  const { organization_id: organizationId } = await lockEndpoint(trx, endpointId);
  const id = newId();
  const delivery = await trx
    .insertInto('webhook_delivery')
    .values({
      id,
      organization_id: organizationId,
      endpoint_id: endpointId,
      event_id: `evt_${newId().replaceAll('-', '')}`,
      event: webhookTest,
      data: JSON.stringify({ organizationId, endpointId }),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, { organizationId, action: 'webhook.test', targetId: endpointId });
  addToOutbox(trx, startWebhook({ deliveryId: id, endpointId, organizationId }));
  return delivery;
}
