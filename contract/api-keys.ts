import { z } from 'zod';
import { keyPermissions } from './access.ts';
import { count, creditBudget, dateTime, deleted, distinct, givenId, id, withExample } from './fields.ts';
import { displayName } from './names.ts';
import { c, operation } from './route.ts';

/** The maximum number of API keys of an organization, those that have expired included: a list of them is one response. */
export const keysPerOrganization = 100;
/** How long a key lives if its maker does not say, in days. */
const defaultLifetimeDays = 90;
const defaultRequestsPerMinute = 600;
const dayInSeconds = 86_400;
export const defaultOverlapSeconds = dayInSeconds;

const exampleKeyId = 'key_0198d2c4-7e2a-7b61-9d0f-3f6f2d1b9a10';
const keyId = id.meta({ examples: [exampleKeyId] });
const permission = z.enum(keyPermissions).meta({ id: 'KeyPermission' });
const keyName = displayName({ max: 80 }).meta({ examples: ['Nightly import'] });
const keyPermissionList = z
  .array(permission)
  .min(1)
  .max(keyPermissions.length)
  .overwrite(distinct)
  .describe('What the key may do: at most this, and never more than the member who is responsible for it may.')
  .meta({ examples: [['document:read', 'document:create', 'job:create']] });
const requestsPerMinute = z.int().min(1).max(60_000);

const keyFields = {
  id: keyId,
  organizationId: id,
  workspaceId: id
    .nullable()
    .describe('The only workspace that the key reaches; null for every one of the organization.')
    .meta({ examples: [null] }),
  name: z.string().meta({ examples: ['Nightly import'] }),
  prefix: withExample(z.string().describe('How the secret begins, to know it by.'), 'sheaf_Zk3v'),
  permissions: z.array(z.string()).meta({ examples: [['document:read', 'document:create', 'job:create']] }),
  requestsPerMinute: count.meta({ examples: [defaultRequestsPerMinute] }),
  creditBudget: creditBudget.default(null),
  status: z
    .enum(['active', 'expired', 'suspended'])
    .describe('`suspended`: the member who is responsible has left or is banned. A rotation by another member brings the key back.')
    .meta({ examples: ['active'] }),
  responsibleId: id
    .nullable()
    .describe('The member who made or last rotated the key. It never does more than they may do at that moment. Null if they are gone.'),
  expiresAt: dateTime.nullable().describe('Null if it never expires.'),
  overlapEndsAt: dateTime
    .nullable()
    .describe('How long the secret from before the last rotation is still good; null if it is not.')
    .meta({ examples: [null] }),
  lastUsedAt: dateTime.nullable().describe('To the minute.'),
  createdAt: dateTime,
};

const keySchema = z.object(keyFields).meta({ id: 'ApiKey' });
const keyWithSecret = z
  .object({
    ...keyFields,
    secret: z
      .string()
      .describe('Send it as `Authorization: Bearer`. It is shown in this response only.')
      .meta({ examples: ['sheaf_Zk3vExampleExampleExampleExample000000'] }),
  })
  .meta({ id: 'ApiKeyWithSecret' });

const currentKeySchema = z
  .object({
    id: keyId,
    name: keyFields.name,
    organizationId: id,
    workspaceId: keyFields.workspaceId,
    permissions: keyFields.permissions.describe(
      'What the key may do now: what it was given, as far as the member who is responsible for it may.',
    ),
    requestsPerMinute: keyFields.requestsPerMinute,
    expiresAt: dateTime.nullable().describe('When this secret ends, which is earlier if the key was rotated; null if it never does.'),
  })
  .meta({ id: 'CurrentApiKey' });

export const apiKeys = c.router({
  list: {
    method: 'GET',
    path: '/organizations/:organizationId/api-keys',
    summary: 'List API keys',
    description: `Every API key of the organization, by name: at most ${keysPerOrganization}. Keys that expired more than 30 days ago are left out.`,
    pathParams: z.object({ organizationId: givenId }),
    ...operation('apiKeys.list', { access: 'apiKey:manage', evenSuspended: true, response: z.array(keySchema) }),
  },
  current: {
    method: 'GET',
    path: '/api-keys/current',
    summary: 'The API key that calls',
    description: 'What a program has to know of its own key: where it may work, what it may do there, and until when.',
    ...operation('apiKeys.current', { access: 'api-key', response: currentKeySchema }),
  },
  create: {
    method: 'POST',
    path: '/api-keys',
    summary: 'Create an API key',
    description: `Makes a key that belongs to the organization and acts as itself. Its secret is in this response only. CONFLICT if the organization has ${keysPerOrganization} keys. An impersonated session makes none.`,
    body: z
      .object({
        organizationId: givenId,
        workspaceId: givenId.optional().describe('The only workspace that the key may reach. Without it the key reaches all of them.'),
        name: keyName,
        permissions: keyPermissionList,
        expiresInDays: z.int().min(1).max(3_650).nullable().default(defaultLifetimeDays).describe('Null for a key that never expires.'),
        requestsPerMinute: requestsPerMinute
          .default(defaultRequestsPerMinute)
          .describe("The key's own limit: its requests and searches count here, and not for the address that they come from."),
        creditBudget: creditBudget.default(null),
      })
      .meta({ id: 'CreateApiKey' }),
    ...operation('apiKeys.create', { access: 'apiKey:manage', errors: ['NOT_FOUND', 'CONFLICT'], response: keyWithSecret }),
  },
  update: {
    method: 'PATCH',
    path: '/api-keys/:id',
    summary: 'Change an API key',
    description: 'Changes what is given and leaves the rest. It counts from the next request on.',
    pathParams: z.object({ id: givenId }),
    body: z
      .object({
        ...{ name: keyName.optional(), permissions: keyPermissionList.optional(), requestsPerMinute: requestsPerMinute.optional() },
        creditBudget: creditBudget.optional(),
      })
      .optional()
      .meta({ id: 'UpdateApiKey' }),
    ...operation('apiKeys.update', { access: 'apiKey:manage', errors: ['NOT_FOUND'], response: keySchema }),
  },
  rotate: {
    method: 'POST',
    path: '/api-keys/:id/rotate',
    summary: 'Give an API key a new secret',
    description:
      'The new secret lives as long as the key was made for, from now on. The one before stays good for the overlap; any older one ends now. You are responsible for the key from now on. An impersonated session rotates none.',
    pathParams: z.object({ id: givenId }),
    body: z
      .object({
        overlapSeconds: z
          .int()
          .min(0)
          .max(7 * dayInSeconds)
          .default(defaultOverlapSeconds)
          .describe('How long the present secret stays good; 0 ends it now.'),
      })
      .optional()
      .meta({ id: 'RotateApiKey' }),
    ...operation('apiKeys.rotate', { access: 'apiKey:manage', errors: ['NOT_FOUND'], response: keyWithSecret }),
  },
  revoke: {
    method: 'DELETE',
    path: '/api-keys/:id',
    summary: 'Revoke an API key',
    description:
      'The key and its secrets are gone at once. Streams that it holds open send nothing more after a second, and end within 30 seconds. What it did stays in the audit log.',
    pathParams: z.object({ id: givenId }),
    ...operation('apiKeys.revoke', { access: 'apiKey:manage', evenSuspended: true, errors: ['NOT_FOUND'], response: deleted }),
  },
});
