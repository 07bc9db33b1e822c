import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { type EndpointRow, endpointNotFound } from './endpoint.ts';

/** Deletes an endpoint. Its deliveries stay until retention removes them; those that wait fail when they are due. Throws NOT_FOUND. */
export async function deleteEndpoint(trx: Transaction, actor: Actor, { id }: Pick<EndpointRow, 'id'>): Promise<void> {
  const deleted = await trx.deleteFrom('webhook_endpoint').where('id', '=', id).returning(['organization_id', 'url']).executeTakeFirst();
  if (!deleted) throw endpointNotFound();
  await recordAudit(trx, actor, {
    organizationId: deleted.organization_id,
    action: 'webhook.delete',
    targetId: id,
    metadata: { url: deleted.url },
  });
}
