import { z } from 'zod';
import { dataSchemas, organizationLimits } from './errors.ts';
import {
  auditTarget,
  count,
  cursor,
  dateTime,
  exampleId,
  givenId,
  id,
  nextCursor,
  planLimits,
  planName,
  planOverride,
  queryInteger,
  slug,
  subscriptionStatus,
  withExample,
} from './fields.ts';
import { reason } from './names.ts';
import { c, operation } from './route.ts';

/** Why an organization is suspended, and since when. */
export const suspension = dataSchemas.ORGANIZATION_SUSPENDED;

export const readOnly = z
  .string()
  .optional()
  .describe('Why an operator has the deployment take no writes; absent unless it takes none.')
  .meta({ examples: ['The database moves until 14:00.'] });

const usageSchema = z
  .object({
    plan: planName.nullable().describe('Null while billing is off.'),
    limits: planLimits.nullable().describe('Null while billing is off: nothing is capped.'),
    usage: z
      .object({
        workspaces: count.meta({ examples: [3] }),
        members: count.meta({ examples: [7] }),
        pendingInvitations: count.meta({ examples: [1] }),
        aiCredits: count.meta({ examples: [412] }),
      })
      .meta({ id: 'UsedAmounts' }),
    period: z
      .object({
        start: dateTime.meta({ examples: ['2026-11-01T00:00:00.000Z'] }),
        end: dateTime.meta({ examples: ['2026-12-01T00:00:00.000Z'] }),
      })
      .meta({ id: 'UsagePeriod', description: 'The calendar month, UTC, that `aiCredits` counts.' }),
    suspension: suspension.optional().describe('Absent unless the organization is suspended: then it is only read, and its jobs wait.'),
    readOnly,
  })
  .meta({ id: 'Usage' });

const usageDays = 31;
/** The most rows that one response of the history has. */
export const usageRows = 10_000;

const day = z.iso.date('must be a day, such as 2026-11-30').meta({ examples: ['2026-11-30'] });

/** The days that a report is asked for. */
const lastDays = {
  to: day
    .regex(/^[2-9]/, 'must not be before the year 2000')
    .optional()
    .describe('The last day; today if it is not given.'),
  days: queryInteger({ min: 1, max: usageDays, defaultValue: usageDays }).describe('How many days, up to the last one.'),
};

const moreRows = withExample(z.boolean().describe(`Whether there are more than ${usageRows} rows: ask for fewer days.`), false);

const usageHistorySchema = z
  .object({
    from: day,
    to: day,
    heldCredits: count
      .describe(
        'What the jobs, searches and answers that have not ended now were charged. `charged` contains it; it is given back if they fail or are canceled.',
      )
      .meta({ examples: [7] }),
    items: z.array(
      z
        .object({
          day,
          group: z
            .string()
            .nullable()
            .describe(
              'The kind (`document.index`, `documents.search`, …), or the id of the workspace or the API key. Null for what belongs to none, or was charged before this was noted.',
            )
            .meta({ examples: ['document.index'] }),
          charged: count.meta({ examples: [24] }),
          refunded: count.describe('Given back on this day, also of what was charged earlier.').meta({ examples: [2] }),
        })
        .meta({ id: 'DayOfUsage' }),
    ),
    more: moreRows,
  })
  .meta({ id: 'UsageHistory' });

const costsSchema = z
  .object({
    from: day,
    to: day,
    currency: withExample(z.string().nullable().describe('The currency of the prices; null in a deployment without prices.'), 'USD'),
    items: z.array(
      z
        .object({
          day,
          group: z
            .string()
            .nullable()
            .describe('The id of the organization, workspace, document, job or API key, or the model. Null for what belongs to none.')
            .meta({ examples: [exampleId] }),
          calls: count.describe('The calls that providers took.').meta({ examples: [61] }),
          unreportedCalls: count
            .describe('Those of them whose tokens are unknown: a call was cut, is still under way, or its provider did not tell.')
            .meta({ examples: [1] }),
          unpricedCalls: count.describe('Those with tokens for which there is no price.').meta({ examples: [0] }),
          inputTokens: count.meta({ examples: [48_210] }),
          cachedInputTokens: count.describe("Those of the input that came from the provider's cache.").meta({ examples: [0] }),
          outputTokens: count.meta({ examples: [512] }),
          knownCostMicros: count
            .nullable()
            .describe(
              'What the calls cost, in millionths of the currency, without those that are unreported or have no price; null if that is all of them.',
            )
            .meta({ examples: [964_200] }),
        })
        .meta({ id: 'DayOfCosts' }),
    ),
    nextCursor,
  })
  .meta({ id: 'Costs' });

export const auditEntrySchema = z
  .object({
    id,
    organizationId: id,
    actorId: id.nullable(),
    actorEmail: withExample(z.string().nullable(), 'ada@example.com'),
    impersonatedBy: withExample(id.nullable().describe('The platform admin behind an impersonated session.'), null),
    action: z.string().meta({ examples: ['document.create'] }),
    targetType: withExample(z.string().nullable(), 'document'),
    targetId: withExample(z.string().nullable(), exampleId),
    metadata: withExample(z.record(z.string(), z.unknown()).nullable(), { name: 'handbook.pdf' }),
    createdAt: dateTime,
  })
  .meta({ id: 'AuditEntry' });

/** The most entries that one response of the feed has. */
export const maxFedEntries = 1_000;

const fedEntrySchema = auditEntrySchema
  .extend({
    sequence: withExample(z.int().min(1).describe('Its number in the organization. No number is missing, and none is given twice.'), 1042),
  })
  .meta({ id: 'NumberedAuditEntry' });

const holdSchema = z
  .object({
    organizationId: id,
    workspaceId: id.nullable().describe('The workspace that is held; null if the whole organization is.'),
    reason: z.string().meta({ examples: ['The case of the broken dome.'] }),
    since: dateTime,
  })
  .meta({ id: 'LegalHold' });

export const deleteOrganization = z.object({ confirmSlug: slug }).meta({ id: 'DeleteOrganization' });

export const organizationDeletion = z
  .object({ organizationId: id, objectsDeleted: count.meta({ examples: [42] }), objectsFailed: count })
  .meta({ id: 'OrganizationDeletion' });

export const organizations = c.router({
  usage: {
    method: 'GET',
    path: '/organizations/:organizationId/usage',
    summary: 'Usage against the plan',
    description: 'What the organization uses of its plan: workspaces, members, invitations and the credits of this month.',
    pathParams: z.object({ organizationId: givenId }),
    ...operation('organizations.usage', { access: 'member', response: usageSchema }),
  },
  usageHistory: {
    method: 'GET',
    path: '/organizations/:organizationId/usage/history',
    summary: 'Credits by day',
    description:
      'The credits that were charged and given back on each day (UTC), by kind, workspace or API key, the newest day first; and those that unfinished jobs hold. Days without any are left out.',
    pathParams: z.object({ organizationId: givenId }),
    query: z.object({
      ...lastDays,
      by: z.enum(['kind', 'workspace', 'key']).default('kind').describe('What the credits of a day are told apart by.'),
    }),
    ...operation('organizations.usageHistory', { access: 'billing:read', response: usageHistorySchema }),
  },
  costs: {
    method: 'GET',
    path: '/organizations/:organizationId/costs',
    summary: 'Costs of providers by day',
    description:
      'What the providers of models did for the organization on each day (UTC) and what they charge for it, by workspace, document, job, API key or model, the newest day first. Every call counts, those of attempts that failed too. An unknown cost is counted as such, never guessed. What the local models do is not in it. A page has at most 10,000 rows.',
    pathParams: z.object({ organizationId: givenId }),
    query: z.object({
      ...lastDays,
      by: z
        .enum(['organization', 'workspace', 'document', 'job', 'key', 'model'])
        .default('organization')
        .describe('What the calls of a day are told apart by.'),
      cursor: cursor.optional(),
    }),
    ...operation('organizations.costs', { access: 'billing:read', response: costsSchema }),
  },
  auditLog: {
    method: 'GET',
    path: '/organizations/:organizationId/audit-log',
    summary: 'Read the audit log',
    description: 'A page of what was done in the organization and by whom, newest first. Filters that are given together all hold.',
    pathParams: z.object({ organizationId: givenId }),
    query: z.object({
      actorId: givenId.optional().describe('Only what this user or API key did.'),
      targetId: auditTarget.optional().describe('Only what was done to this: the id of a user, document, job and so on.'),
      limit: queryInteger({ min: 1, max: 100, defaultValue: 50 }).describe('How many are returned at the most. A page also ends at 4 MiB.'),
      cursor: cursor.optional(),
    }),
    ...operation('organizations.auditLog', {
      access: 'auditLog:read',
      response: z.object({ entries: z.array(auditEntrySchema), nextCursor }).meta({ id: 'AuditPage' }),
    }),
  },
  auditFeed: {
    method: 'GET',
    path: '/organizations/:organizationId/audit-feed',
    summary: 'Follow the audit log',
    description:
      'The entries of the audit log by their numbers, the oldest first, for a program that copies them. Keep `last` and pass it as `after` the next time, a minute or a week later: every entry comes once, as long as it is kept. No entries: there is none yet. With `wait`, ask again at once: entries come as they are written. An entry is numbered once it is committed, so `createdAt` may be a little out of order. With `Accept: application/x-ndjson` each line is an entry, and the `sequence` of the last line is `last`.',
    pathParams: z.object({ organizationId: givenId }),
    query: z.object({
      after: queryInteger({ min: 0, defaultValue: 0 }).describe(
        'Only entries with a greater `sequence`. Greater than the last one that was given, as after a restore of a backup, it is BAD_REQUEST, whose message names that one.',
      ),
      limit: queryInteger({ min: 1, max: maxFedEntries, defaultValue: maxFedEntries }).describe(
        'How many are returned at the most. A response also ends at 4 MiB.',
      ),
      wait: queryInteger({ min: 0, max: 30, defaultValue: 0 }).describe(
        'For how many seconds to wait for an entry if there is none yet. One that comes is returned within a second or two.',
      ),
    }),
    ...operation('organizations.auditFeed', {
      access: 'auditLog:read',
      lines: 'entries',
      response: z
        .object({
          entries: z.array(fedEntrySchema),
          last: count.describe('The `sequence` of the last entry; `after` if there is none.').meta({ examples: [1042] }),
        })
        .meta({ id: 'AuditFeed' }),
    }),
  },
  delete: {
    method: 'DELETE',
    path: '/organizations/:organizationId',
    summary: 'Delete an organization that one owns',
    description:
      'Deletes the stored objects of the organization, then everything it owns, for ever. Only an owner may. `confirmSlug` must be its slug, otherwise it is NOT_FOUND. It is PRECONDITION_FAILED while its subscription is live, also until the end of the period with which it was canceled. The response comes once the deletion is done. If that takes over a minute, it is SERVICE_UNAVAILABLE and the deletion goes on; nothing can be created meanwhile. Once it is done, nobody is a member any more: a repeated request is FORBIDDEN.',
    pathParams: z.object({ organizationId: givenId }),
    body: deleteOrganization,
    ...operation('organizations.delete', {
      access: 'organization:delete',
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED', 'LEGAL_HOLD'],
      response: organizationDeletion,
    }),
  },
  holds: {
    method: 'GET',
    path: '/organizations/:organizationId/holds',
    summary: 'List legal holds',
    description: 'What may not be deleted, and why: that of the whole organization first.',
    pathParams: z.object({ organizationId: givenId }),
    ...operation('organizations.holds', { access: 'member', response: z.array(holdSchema) }),
  },
  setHold: {
    method: 'PUT',
    path: '/organizations/:organizationId/hold',
    summary: 'Set a legal hold',
    description:
      'Keeps a workspace with its documents, or all of the organization, from deletion: by members, keys, platform admins and the deletion of the organization. They get LEGAL_HOLD with the reason, as does who would replace, rename or relabel a document. Setting it again changes the reason. Only an owner may.',
    pathParams: z.object({ organizationId: givenId }),
    body: z
      .object({
        workspaceId: givenId.optional().describe('The only workspace that is held. Without it the whole organization is.'),
        reason: reason.meta({ examples: ['The case of the broken dome.'] }),
      })
      .meta({ id: 'SetHold' }),
    ...operation('organizations.setHold', {
      ...{ access: 'organization:delete', evenSuspended: true, errors: ['NOT_FOUND'] },
      response: holdSchema,
    }),
  },
  liftHold: {
    method: 'DELETE',
    path: '/organizations/:organizationId/hold',
    summary: 'Lift a legal hold',
    description: 'Lifts the hold of a workspace, or that of the whole organization; others stay. Only an owner may.',
    pathParams: z.object({ organizationId: givenId }),
    query: z.object({ workspaceId: givenId.optional().describe('The workspace that is held; without it the whole organization.') }),
    ...operation('organizations.liftHold', {
      ...{ access: 'organization:delete', evenSuspended: true, errors: ['NOT_FOUND'] },
      response: z.object({ organizationId: id, workspaceId: id.nullable() }).meta({ id: 'LiftedHold' }),
    }),
  },
});

const billingSubscription = z
  .object({
    id,
    plan: z.string().meta({ examples: ['pro'] }),
    status: subscriptionStatus,
    seats: count.nullable().meta({ examples: [7] }),
    periodEnd: dateTime.nullable(),
    trialEnd: dateTime.nullable().meta({ examples: [null] }),
    cancelAtPeriodEnd: z.boolean(),
    cancelAt: dateTime.nullable().meta({ examples: [null] }),
    billingInterval: withExample(z.string().nullable(), 'month'),
  })
  .meta({ id: 'BillingSubscription' });

export const billing = c.router({
  status: {
    method: 'GET',
    path: '/organizations/:organizationId/billing',
    summary: 'Billing status',
    description: 'The plan, its limits, the subscription behind it, and the limits that the organization already exceeds.',
    pathParams: z.object({ organizationId: givenId }),
    ...operation('billing.status', {
      access: 'billing:read',
      response: z
        .object({
          enabled: z.boolean(),
          plan: planName.nullable(),
          limits: planLimits.nullable(),
          byHand: planOverride
            .optional()
            .describe('Absent unless an operator has given a plan or limits by hand: `plan` and `limits` contain them.'),
          subscription: billingSubscription.nullable(),
          paymentFailed: z.boolean(),
          overLimit: z
            .array(
              z
                .object({
                  kind: z.enum(organizationLimits),
                  current: count.meta({ examples: [4] }),
                  limit: count.meta({ examples: [3] }),
                })
                .meta({ id: 'ExceededLimit' }),
            )
            .describe('The limits that the organization already exceeds.')
            .meta({ examples: [[]] }),
        })
        .meta({ id: 'BillingStatus' }),
    }),
  },
});
