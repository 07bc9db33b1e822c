import { ApiError } from '../../contract/api-error.ts';
import type { WebhookEventName } from '../../contract/webhook-events.ts';
import type { WebhookSignature } from '../../contract/webhooks.ts';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { newId } from '../ids.ts';
import { lockOrganization } from '../locks.ts';
import type { SecretBox } from '../secret-box.ts';
import { createSecret } from './create-secret.ts';
import { type EndpointRow, maxEndpoints } from './endpoint.ts';

interface NewEndpoint {
  organizationId: string;
  url: string;
  events: WebhookEventName[];
  description: string;
  enabled: boolean;
  signature: WebhookSignature;
}

/** Adds an endpoint with a new secret. Throws CONFLICT if the organization has as many as it may have. */
export async function createEndpoint(trx: Transaction, actor: Actor, endpoint: NewEndpoint, secrets: SecretBox): Promise<EndpointRow> {
  const { organizationId, url, events, description, enabled, signature } = endpoint;
  await lockOrganization(trx, organizationId);
  await checkCount(trx, organizationId);
  const { secret, public_key: publicKey } = createSecret(signature);
  const created = await trx
    .insertInto('webhook_endpoint')
    .values({
      id: newId(),
      organization_id: organizationId,
      ...{ url, events, description, enabled, signature },
      secret: secrets.seal(secret),
      public_key: publicKey,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, {
    organizationId,
    action: 'webhook.create',
    targetId: created.id,
    metadata: { url, events: created.events },
  });
  return created;
}

async function checkCount(trx: Transaction, organizationId: string): Promise<void> {
  const { count } = await trx
    .selectFrom('webhook_endpoint')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  if (count >= maxEndpoints) throw new ApiError('CONFLICT', { message: `An organization has at most ${maxEndpoints} webhook endpoints.` });
}
