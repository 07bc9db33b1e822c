import { z } from 'zod';
import {
  count,
  cursor,
  dateTime,
  deleted,
  distinct,
  emptyBody,
  exampleTime,
  givenId,
  id,
  nextCursor,
  queryInteger,
  singleLine,
  withExample,
} from './fields.ts';
import { c, operation } from './route.ts';
import { eventId, webhookEventNames, webhookTest } from './webhook-events.ts';

/** How requests are signed: `v1` by a shared secret (HMAC-SHA256), `v1a` by a private key (Ed25519) whose public key is shown. */
const signature = z.enum(['v1', 'v1a']).meta({ id: 'WebhookSignature', examples: ['v1'] });
export type WebhookSignature = z.infer<typeof signature>;

const deliveryStatus = z.enum(['pending', 'delivered', 'failed']).meta({ id: 'WebhookDeliveryStatus', examples: ['delivered'] });
export type WebhookDeliveryStatus = z.infer<typeof deliveryStatus>;

const eventName = z.enum(webhookEventNames).meta({ id: 'WebhookEventName', examples: ['job.succeeded'] });
const deliveryEvent = z.enum([...webhookEventNames, webhookTest]).meta({ id: 'WebhookDeliveryEvent', examples: ['job.succeeded'] });

/**
 * An address that requests are sent to, stored as they use it: `https://example.com` as `https://example.com/`. Which hosts it may name is
 * decided for each connection.
 */
const url = z
  .url({ protocol: /^https?$/, normalize: true, error: 'must be an http or https URL' })
  .max(2_048)
  .refine((value) => !hasCredentials(value), 'must not hold a name or a password')
  .meta({ examples: ['https://hooks.example.com/sheaf'] });

function hasCredentials(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username !== '' || password !== '';
}

const events = z
  .array(eventName)
  .min(1)
  .max(webhookEventNames.length)
  .overwrite(distinct)
  .describe('The kinds of events that it is told of.')
  .meta({ examples: [['job.succeeded', 'job.failed']] });
const description = singleLine({ max: 200 }).meta({ examples: ['Nightly import'] });

const endpointFields = {
  id,
  organizationId: id,
  url: z.string().meta({ examples: ['https://hooks.example.com/sheaf'] }),
  description: z.string().meta({ examples: ['Nightly import'] }),
  events,
  enabled: z.boolean(),
  disabledReason: z
    .enum(['gone', 'failing'])
    .nullable()
    .describe('Why the service has disabled it: it answered 410, or every delivery failed for five days.')
    .meta({ examples: [null] }),
  failingSince: withExample(dateTime.nullable().describe('Since when every delivery has failed.'), null),
  signature,
  publicKey: withExample(z.string().nullable().describe('For `v1a`: the key that verifies, `whpk_…`.'), null),
  previousSecretUntil: withExample(dateTime.nullable().describe('Until when the secret before the last rotation signs too.'), null),
  createdAt: dateTime,
  updatedAt: dateTime,
};

const endpoint = z.object(endpointFields).meta({ id: 'WebhookEndpoint' });
const endpointWithSecret = z
  .object({
    ...endpointFields,
    secret: z
      .string()
      .nullable()
      .describe('For `v1`: the secret that verifies, `whsec_…`. It is shown only now. Null for `v1a`.')
      .meta({ examples: ['whsec_c2VjcmV0IG9mIHRoZSBlbmRwb2ludA=='] }),
  })
  .meta({ id: 'WebhookEndpointWithSecret' });

const attempt = z
  .object({
    at: dateTime,
    durationMs: count.meta({ examples: [84] }),
    status: withExample(z.int().nullable().describe('Null if there was no response.'), 200),
    error: withExample(z.string().nullable().describe('Null if the receiver accepted it.'), null),
  })
  .meta({ id: 'WebhookAttempt' });

const delivery = z
  .object({
    id,
    organizationId: id,
    endpointId: id,
    eventId: eventId.describe('The `webhook-id` of its requests: the same for every endpoint and every attempt.'),
    event: deliveryEvent,
    status: deliveryStatus,
    error: withExample(z.string().nullable().describe('Why the last attempt failed, or why there is none.'), null),
    request: z
      .object({
        url: z
          .string()
          .nullable()
          .describe('Where the last attempt went; null before the first.')
          .meta({ examples: ['https://hooks.example.com/sheaf'] }),
        body: z.string().meta({ examples: [`{"type":"webhook.test","timestamp":"${exampleTime}","data":{}}`] }),
      })
      .meta({ id: 'WebhookRequest' }),
    response: z
      .object({
        status: z.int().meta({ examples: [200] }),
        body: withExample(z.string().describe('Its first 4 kB.'), 'ok'),
      })
      .meta({ id: 'WebhookResponse' })
      .nullable()
      .describe('The response to the last attempt that had one.'),
    attempts: z.array(attempt).describe('The last twenty, the newest last.'),
    nextAttemptAt: withExample(dateTime.nullable().describe('Null while its endpoint is disabled: only tests are sent then.'), null),
    createdAt: dateTime,
    finishedAt: dateTime.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

const filter = {
  endpointId: givenId.optional(),
  status: deliveryStatus.optional(),
  event: deliveryEvent.optional(),
};

const off = 'PRECONDITION_FAILED' as const;

export const webhooks = c.router({
  list: {
    method: 'GET',
    path: '/webhooks',
    summary: 'List webhook endpoints',
    description: 'Every endpoint of the organization, the oldest first.',
    query: z.object({ organizationId: givenId.describe('The organization that the endpoints belong to.') }),
    ...operation('webhooks.list', { access: 'webhook:read', errors: [off], response: z.array(endpoint) }),
  },
  get: {
    method: 'GET',
    path: '/webhooks/:id',
    summary: 'Get a webhook endpoint',
    description: 'The endpoint, without its secret.',
    pathParams: z.object({ id: givenId }),
    ...operation('webhooks.get', { access: 'webhook:read', errors: ['NOT_FOUND', off], response: endpoint }),
  },
  create: {
    method: 'POST',
    path: '/webhooks',
    summary: 'Add a webhook endpoint',
    description:
      'Adds an address that is told of events, signed as Standard Webhooks 1.0 says. The secret is shown only in this response. It is reached over https at a public address; other networks and http only where the deployment allows it. An organization has at most 50: one more is CONFLICT.',
    body: z
      .object({
        organizationId: givenId,
        url,
        events,
        description: description.default(''),
        enabled: z.boolean().default(true),
        signature: signature.default('v1'),
      })
      .meta({ id: 'CreateWebhookEndpoint' }),
    ...operation('webhooks.create', {
      access: 'webhook:manage',
      errors: ['NOT_FOUND', 'CONFLICT', off],
      response: endpointWithSecret,
    }),
  },
  update: {
    method: 'PATCH',
    path: '/webhooks/:id',
    summary: 'Change a webhook endpoint',
    description:
      'Changes what is given and leaves the rest. Enabling it forgets that it failed. What failed before can be sent again for 30 days; what happens while it is disabled is not kept.',
    pathParams: z.object({ id: givenId }),
    body: z
      .object({ url: url.optional(), events: events.optional(), description: description.optional(), enabled: z.boolean().optional() })
      .optional()
      .meta({ id: 'UpdateWebhookEndpoint' }),
    ...operation('webhooks.update', { access: 'webhook:manage', errors: ['NOT_FOUND', off], response: endpoint }),
  },
  rotateSecret: {
    method: 'POST',
    path: '/webhooks/:id/rotate-secret',
    summary: 'Make a new secret',
    description:
      'Makes a new secret or, for `v1a`, a new pair of keys, shown only now. Requests carry two signatures, by the new one and the one before, for as long as `overlapHours` says; no older one signs any more.',
    pathParams: z.object({ id: givenId }),
    body: z
      .object({
        overlapHours: withExample(z.int().min(0).max(168).default(24), 24),
      })
      .optional()
      .meta({ id: 'RotateWebhookSecret' }),
    ...operation('webhooks.rotateSecret', { access: 'webhook:manage', errors: ['NOT_FOUND', off], response: endpointWithSecret }),
  },
  delete: {
    method: 'DELETE',
    path: '/webhooks/:id',
    summary: 'Delete a webhook endpoint',
    description: 'It is told of nothing more, also not of what waits. Its deliveries stay listed until they are 30 days old.',
    pathParams: z.object({ id: givenId }),
    ...operation('webhooks.delete', { access: 'webhook:manage', errors: ['NOT_FOUND', off], response: deleted }),
  },
  test: {
    method: 'POST',
    path: '/webhooks/:id/test',
    summary: 'Send a test',
    description: 'Sends a `webhook.test` event to the endpoint, once, even if it is disabled. Read the delivery to see what came of it.',
    pathParams: z.object({ id: givenId }),
    body: emptyBody,
    ...operation('webhooks.test', { access: 'webhook:manage', errors: ['NOT_FOUND', off], response: delivery }),
  },
  deliveries: {
    method: 'GET',
    path: '/webhook-deliveries',
    summary: 'List deliveries',
    description: 'A page of what was sent and what waits to be sent, newest first. Deliveries are kept for 30 days.',
    query: z.object({
      organizationId: givenId.describe('The organization that the deliveries belong to.'),
      ...filter,
      limit: queryInteger({ min: 1, max: 100, defaultValue: 25 }).describe('How many are returned at the most. A page also ends at 4 MiB.'),
      cursor: cursor.optional(),
    }),
    ...operation('webhooks.deliveries', {
      access: 'webhook:read',
      errors: [off],
      response: z.object({ items: z.array(delivery), nextCursor }).meta({ id: 'WebhookDeliveryPage' }),
    }),
  },
  delivery: {
    method: 'GET',
    path: '/webhook-deliveries/:id',
    summary: 'Get a delivery',
    description: 'What was sent, what came back, and every attempt.',
    pathParams: z.object({ id: givenId }),
    ...operation('webhooks.delivery', { access: 'webhook:read', errors: ['NOT_FOUND', off], response: delivery }),
  },
  resend: {
    method: 'POST',
    path: '/webhook-deliveries/:id/resend',
    summary: 'Send a delivery again',
    description:
      'Sends it again, with the same `webhook-id` and new attempts, to where its endpoint is now. One that waits goes on waiting.',
    pathParams: z.object({ id: givenId }),
    body: emptyBody,
    ...operation('webhooks.resend', { access: 'webhook:manage', errors: ['NOT_FOUND', off], response: delivery }),
  },
  resendMany: {
    method: 'POST',
    path: '/webhook-deliveries/resend',
    summary: 'Send many deliveries again',
    description:
      'Sends the deliveries again that match every given field, the oldest first, at most 1,000 with one request: `more` says that others are left, and the next request goes on there if it has the same fields and `nextCursor` as `cursor`. With `dryRun` it only counts. By default those that failed.',
    body: z
      .object({
        organizationId: givenId,
        endpointId: givenId.optional(),
        status: z.enum(['delivered', 'failed']).default('failed'),
        event: deliveryEvent.optional(),
        from: dateTime.optional().describe('Created at this time or later.'),
        to: dateTime.optional().describe('Created before this time.'),
        cursor: cursor.optional(),
        dryRun: z.boolean().default(false),
      })
      .meta({ id: 'ResendWebhooks' }),
    ...operation('webhooks.resendMany', {
      access: 'webhook:manage',
      errors: [off],
      response: z
        .object({ matched: count.meta({ examples: [12] }), resent: count.meta({ examples: [12] }), more: z.boolean(), nextCursor })
        .meta({ id: 'ResentWebhooks' }),
    }),
  },
});
