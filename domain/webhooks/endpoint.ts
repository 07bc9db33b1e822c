import type { Selectable } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import { anyOf, batchedRead } from '../../db/batched-read.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { WebhookEndpointTable } from '../../db/schema.ts';

/** An endpoint as the database holds it, with its secrets. */
export type EndpointRow = Selectable<WebhookEndpointTable>;

/** How many endpoints an organization may have: a list of them is one response. */
export const maxEndpoints = 50;

const findEndpoint = batchedRead(
  (db, ids): Promise<EndpointRow[]> => db.selectFrom('webhook_endpoint').selectAll().where('id', '=', anyOf(ids)).execute(),
  ({ id }) => id,
);

/** The endpoint, whichever organization it belongs to: the caller authorizes by the row. Throws NOT_FOUND. */
export async function getEndpoint(db: Db, endpointId: string): Promise<EndpointRow> {
  const endpoint = await findEndpoint(db, endpointId);
  if (!endpoint) throw endpointNotFound();
  return endpoint;
}

/** Throws FORBIDDEN if a filter names an endpoint of another organization. One that is deleted may still have deliveries. */
export async function checkEndpointOf(
  db: Db,
  { organizationId, endpointId }: { organizationId: string; endpointId?: string | undefined },
): Promise<void> {
  const endpoint = endpointId === undefined ? undefined : await findEndpoint(db, endpointId);
  if (endpoint && endpoint.organization_id !== organizationId) throw new ApiError('FORBIDDEN');
}

/** Every endpoint of an organization, the oldest first. Their number is bounded at creation. */
export async function listEndpoints(db: Db, organizationId: string): Promise<EndpointRow[]> {
  return await db
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Locks an endpoint, after its organization if that is locked at all. Throws NOT_FOUND if it is gone. */
export async function lockEndpoint(trx: Transaction, endpointId: string): Promise<EndpointRow> {
  const endpoint = await trx.selectFrom('webhook_endpoint').selectAll().where('id', '=', endpointId).forNoKeyUpdate().executeTakeFirst();
  if (!endpoint) throw endpointNotFound();
  return endpoint;
}

export function endpointNotFound(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'Webhook endpoint not found.' });
}
