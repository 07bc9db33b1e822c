import { type Selectable, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import { type WebhookDeliveryEvent, webhookTest } from '../../contract/webhook-events.ts';
import type { WebhookDeliveryStatus } from '../../contract/webhooks.ts';
import { anyOf } from '../../db/batched-read.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { WebhookDeliveryTable } from '../../db/schema.ts';
import { type Cursors, cursorAfter, fitPage, maxPageBytes, type Page, readRows, rowBytes } from '../page.ts';

/** A delivery as the database holds it. */
export type DeliveryRow = Selectable<WebhookDeliveryTable>;

/** The body of a delivery's requests: the same bytes for every attempt. */
export function bodyOf({ event, created_at, data }: Pick<DeliveryRow, 'event' | 'created_at' | 'data'>): string {
  return JSON.stringify({ type: event, timestamp: created_at.toISOString(), data });
}

/** A disabled endpoint takes only tests: what waits for it ends at its time, without an attempt. */
const nextAttemptAt = sql<Date | null>`
  case when event = ${webhookTest} or exists (select from webhook_endpoint where id = endpoint_id and enabled) then next_attempt_at end
`.as('next_attempt_at');

/** Deliveries as they are shown: of two columns with one name the driver returns the last. */
const selectDeliveries = (db: Db | Transaction) => db.selectFrom('webhook_delivery').selectAll().select(nextAttemptAt);

/** The delivery, whichever organization it belongs to: the caller authorizes by the row. Throws NOT_FOUND. */
export async function getDelivery(db: Db | Transaction, deliveryId: string): Promise<DeliveryRow> {
  const delivery = await selectDeliveries(db).where('id', '=', deliveryId).executeTakeFirst();
  if (!delivery) throw new ApiError('NOT_FOUND', { message: 'Webhook delivery not found.' });
  return delivery;
}

export interface DeliveryFilter {
  organizationId: string;
  endpointId?: string | undefined;
  status?: WebhookDeliveryStatus | undefined;
  event?: WebhookDeliveryEvent | undefined;
  /** Leaves out those of {@link auditEvent}. */
  hidesAudit?: boolean;
}

/** The event whose deliveries hold entries of the audit log. */
export const auditEvent: WebhookDeliveryEvent = 'audit.entry';

/** The conditions of a filter, joined by `and`. The organization is always one of them. */
export function matches({ organizationId, endpointId, status, event, hidesAudit }: DeliveryFilter) {
  const conditions = [
    sql`organization_id = ${organizationId}`,
    ...(endpointId === undefined ? [] : [sql`endpoint_id = ${endpointId}`]),
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(event === undefined ? [] : [sql`event = ${event}`]),
    ...(hidesAudit ? [sql`event <> ${auditEvent}`] : []),
  ];
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

const bytes = sql`${sql.lit(rowBytes)} + octet_length(attempts::text) + octet_length(data::text) * 2 + 2 * coalesce(octet_length(response_body), 0)`;

/** A page of an organization's deliveries, newest first, that ends after `limit` deliveries or 4 MiB. */
export async function listDeliveries(
  db: Db,
  cursors: Cursors,
  { limit, cursor, ...filter }: DeliveryFilter & { limit: number; cursor?: string | undefined },
): Promise<Page<DeliveryRow>> {
  const scope = `webhooks:${filter.organizationId}`;
  const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
  const sized = sql`
    select id, created_at as at, ${bytes} as bytes from webhook_delivery
    where ${matches(filter)} ${after ? sql`and (created_at, id) < (${after.at}, ${after.id})` : sql``}
    order by created_at desc, id desc limit ${limit + 1}
  `;
  const page = await fitPage(db, sized, { order: 'desc', limit, maxBytes: maxPageBytes });
  const read = (ids: string[]) => selectDeliveries(db).where('id', '=', anyOf(ids)).execute();
  return { items: await readRows(page, read), nextCursor: cursorAfter(page, cursors, scope) };
}
