import { sql } from 'kysely';
import type { WebhookEventName } from '../../contract/webhook-events.ts';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { type EndpointRow, lockEndpoint } from './endpoint.ts';

/** Undefined leaves a value as it is. */
interface EndpointChange {
  url?: string | undefined;
  events?: WebhookEventName[] | undefined;
  description?: string | undefined;
  enabled?: boolean | undefined;
}

/** Changes an endpoint. One that is enabled again, or has another address, begins without its failures. Throws NOT_FOUND if it is gone. */
export async function updateEndpoint(
  trx: Transaction,
  actor: Actor,
  { id }: Pick<EndpointRow, 'id'>,
  change: EndpointChange,
): Promise<EndpointRow> {
  const before = await lockEndpoint(trx, id);
  const wanted = {
    url: change.url ?? before.url,
    events: change.events ?? before.events,
    description: change.description ?? before.description,
    enabled: change.enabled ?? before.enabled,
  };
  const changed = (['url', 'events', 'description', 'enabled'] as const).filter((name) => String(wanted[name]) !== String(before[name]));
  if (changed.length === 0) return before;
  const after = await trx
    .updateTable('webhook_endpoint')
    .set({
      ...wanted,
      ...(changed.includes('enabled') ? { disabled_reason: null } : {}),
      ...(changed.includes('enabled') || changed.includes('url') ? { failing_since: null } : {}),
      updated_at: sql`clock_timestamp()`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, {
    organizationId: before.organization_id,
    action: 'webhook.update',
    targetId: id,
    metadata: Object.fromEntries(changed.map((name) => [name, { from: before[name], to: after[name] }])),
  });
  return after;
}
