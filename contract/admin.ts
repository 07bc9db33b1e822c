import { z } from 'zod';
import {
  auditTarget,
  count,
  cursor,
  dateTime,
  exampleId,
  flagKey,
  givenId,
  id,
  nextCursor,
  planLimits,
  planName,
  planOverride,
  queryInteger,
  singleLine,
  subscriptionStatus,
  text,
  withExample,
} from './fields.ts';
import { reason } from './names.ts';
import { auditEntrySchema, deleteOrganization, organizationDeletion, readOnly, suspension } from './organizations.ts';
import { c, operation } from './route.ts';
import { authConfig } from './system.ts';

/** The most that `admin.system.stuck` names. */
export const maxStuck = 200;

const organizationSummary = z
  .object({
    id,
    name: z.string().meta({ examples: ['Korvid Observatory'] }),
    slug: z.string().meta({ examples: ['korvid'] }),
    createdAt: dateTime,
    billingCustomerId: withExample(z.string().nullable().describe("The payment provider's id of the organization."), 'cus_Na6dX7aXxi11N4'),
    members: count.meta({ examples: [7] }),
    workspaces: count.meta({ examples: [3] }),
    plan: planName.nullable().describe('Null while billing is off.'),
    seats: z.object({ billed: count.nullable().meta({ examples: [7] }), members: count.meta({ examples: [7] }) }).meta({ id: 'Seats' }),
    subscription: z
      .object({
        id,
        plan: z.string().meta({ examples: ['pro'] }),
        status: subscriptionStatus,
        seats: count.nullable().meta({ examples: [7] }),
        periodEnd: dateTime.nullable(),
        cancelAtPeriodEnd: z.boolean(),
        billingSubscriptionId: z
          .string()
          .nullable()
          .describe("The payment provider's id of the subscription.")
          .meta({ examples: ['sub_1MowQVLkdIwHu7ix'] }),
      })
      .meta({ id: 'SubscriptionSummary' })
      .nullable(),
    suspension: suspension.optional().describe('Absent unless the organization is suspended.'),
    byHand: planOverride.optional().describe('Absent unless it has a plan or limits by hand.'),
  })
  .meta({ id: 'OrganizationSummary' });

const flagSchema = z
  .object({
    key: flagKey,
    description: z.string().meta({ examples: ['Rank search results a second time.'] }),
    enabled: z.boolean().describe('The default for organizations without an override.'),
    overrides: z.array(z.object({ organizationId: id, enabled: z.boolean() }).meta({ id: 'FlagOverride' })),
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .meta({ id: 'FeatureFlag' });

const latencyMs = withExample(z.number().nullable(), 1.8);
const problem = withExample(z.string().nullable(), null);

const migrationStatus = z
  .object({
    shipped: count.meta({ examples: [4] }),
    applied: count.meta({ examples: [4] }),
    pending: z.array(z.string()).meta({ examples: [[]] }),
    unknown: count.describe('Applied by a later version of the code.'),
    latestApplied: withExample(z.string().nullable(), '0005-compounds'),
  })
  .meta({ id: 'MigrationStatus' });

const systemStatus = z
  .object({
    version: z.string().meta({ examples: ['0.3.0'] }),
    environment: z.string().meta({ examples: ['production'] }),
    runtime: z.string().meta({ examples: ['Node.js 24.21.0'] }),
    startedAt: dateTime,
    uptimeSeconds: count.meta({ examples: [86_400] }),
    counts: z
      .object({
        users: count.meta({ examples: [120] }),
        organizations: count.meta({ examples: [14] }),
        workspaces: count.meta({ examples: [31] }),
        subscriptions: count.meta({ examples: [9] }),
      })
      .meta({ id: 'SystemCounts' }),
    database: z
      .object({ ok: z.boolean(), latencyMs, error: problem, migrations: migrationStatus.nullable() })
      .meta({ id: 'DatabaseStatus' }),
    ai: z
      .object({
        ok: z.boolean(),
        latencyMs,
        error: problem,
        url: z.string().meta({ examples: ['http://ai:8000'] }),
        problems: z.array(z.string()).default([]),
        provider: withExample(z.string().nullable(), 'local'),
        ocr: withExample(z.string().nullable(), 'local'),
      })
      .meta({ id: 'AiStatus' }),
    search: z
      .object({
        model: z
          .string()
          .nullable()
          .describe('What the AI service embeds with now; null if it does not respond.')
          .meta({ examples: ['local-hash-256'] }),
        documents: count.nullable().describe('Documents that are indexed; null if they could not be counted in time.'),
        documentsBehind: count
          .nullable()
          .describe(
            'Those of them that another model, count of dimensions or chunking has indexed: `npm run ops -- reindex` embeds them anew.',
          ),
      })
      .meta({ id: 'SearchStatus' }),
    queue: z
      .object({
        configured: z.boolean(),
        worker: z.enum(['inline', 'off']),
        concurrency: count.meta({ examples: [2] }),
        depth: count.nullable(),
        running: count.nullable(),
        failed: count.nullable(),
        oldestQueuedAt: dateTime.nullable().meta({ examples: [null] }),
      })
      .meta({ id: 'QueueStatus' }),
    storage: z
      .object({
        driver: z.enum(['local', 'bucket']).describe('Files of this service, or a bucket (Google Cloud Storage, S3).'),
        location: z.string().meta({ examples: ['.data/objects'] }),
        maxUploadBytes: count.meta({ examples: [26_214_400] }),
      })
      .meta({ id: 'StorageStatus' }),
    billing: z
      .object({
        enabled: z.boolean(),
        unpricedPlans: withExample(z.array(z.string()).describe('Paid plans without a price.'), []),
      })
      .meta({ id: 'BillingSetup' }),
    email: z
      .object({
        provider: z.string().meta({ examples: ['smtp'] }),
        from: z.string().meta({ examples: ['Sheaf <no-reply@example.com>'] }),
      })
      .meta({ id: 'EmailSetup' }),
    auth: authConfig,
    readOnly,
  })
  .meta({ id: 'SystemStatus' });

const outagePart = z.enum(['ai-service', 'chat', 'embed', 'vision']).meta({ id: 'OutagePart' });

const outage = z
  .object({
    part: outagePart.describe('The AI service itself, or the provider of a role.'),
    cause: withExample(z.string().describe('`unreachable`, `failing`, `limited`, `quota` or `refused`.'), 'quota'),
    since: dateTime,
    nextProbeAt: dateTime,
    waiting: count.describe('How many jobs wait for it.').meta({ examples: [212] }),
  })
  .meta({ id: 'Outage' });

const stuckWork = z
  .object({
    items: z
      .array(
        z
          .object({
            what: z
              .string()
              .describe('What it is: a running job, a queued job, an intent, an object, and so on.')
              .meta({ examples: ['queued job'] }),
            id: z
              .string()
              .describe('Of a job its id; else the id of a workflow, the key of an object, and so on.')
              .meta({ examples: [exampleId] }),
            organizationId: id.nullable(),
            ageSeconds: count.describe('For how long it has made no progress.').meta({ examples: [1_260] }),
            reason: z
              .string()
              .describe('The likely reason, and where to look.')
              .meta({ examples: ['no sweep has seen it: is a worker running?'] }),
          })
          .meta({ id: 'StuckItem' }),
      )
      .max(maxStuck),
    jobWorkflowUrl: z
      .string()
      .describe("Where Temporal's UI shows the workflow of a job, but for the id of the job at its end (`TEMPORAL_UI_URL`).")
      .meta({ examples: ['http://localhost:8233/namespaces/default/workflows/job-'] }),
  })
  .meta({ id: 'StuckWork' });

/** The organization that an operator has given back what it had. */
const lifted = z.object({ organizationId: id }).meta({ id: 'Lifted' });

const organizations = c.router({
  list: {
    method: 'GET',
    path: '/admin/organizations',
    summary: 'List organizations',
    description: 'Organizations by name, with their plan and subscription. `search` looks in name and slug, whatever the case.',
    query: z.object({
      search: withExample(text({ max: 80 }).optional().describe('A part of the name or the slug.'), 'korvid'),
      limit: queryInteger({ min: 1, max: 100, defaultValue: 25 }).describe('How many are returned at the most.'),
      offset: queryInteger({ min: 0, defaultValue: 0 }).describe('How many are skipped.'),
    }),
    ...operation('admin.organizations.list', {
      access: 'platform-admin',
      response: z.object({ items: z.array(organizationSummary), total: count }).meta({ id: 'OrganizationList' }),
    }),
  },
  cancelSubscription: {
    method: 'POST',
    path: '/admin/organizations/:organizationId/cancel-subscription',
    summary: 'Cancel a subscription',
    description: 'Cancels at the end of the paid period, or at once if `immediately` is true.',
    pathParams: z.object({ organizationId: givenId }),
    body: z
      .object({ immediately: z.boolean().default(false) })
      .optional()
      .meta({ id: 'CancelSubscription' }),
    ...operation('admin.organizations.cancelSubscription', {
      access: 'platform-admin',
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      response: z.object({ status: subscriptionStatus, cancelAtPeriodEnd: z.boolean() }).meta({ id: 'SubscriptionCancellation' }),
    }),
  },
  suspend: {
    method: 'PUT',
    path: '/admin/organizations/:organizationId/suspension',
    summary: 'Suspend an organization',
    description:
      'Its members may read, and are told the reason when they write (ORGANIZATION_SUSPENDED) and in `organizations.usage`. Its jobs wait without using up attempts; those that run end. Webhooks are delivered, and API keys can be revoked. Suspending it again changes the reason.',
    pathParams: z.object({ organizationId: givenId }),
    body: z
      .object({
        reason: reason.describe('What its members are told.').meta({ examples: ['The invoice of October is not paid.'] }),
      })
      .meta({ id: 'SuspendOrganization' }),
    ...operation('admin.organizations.suspend', { access: 'platform-admin', errors: ['NOT_FOUND'], response: suspension }),
  },
  liftSuspension: {
    method: 'DELETE',
    path: '/admin/organizations/:organizationId/suspension',
    summary: 'Lift the suspension of an organization',
    description: 'Its jobs go on, in turn with those of others. NOT_FOUND if it is not suspended.',
    pathParams: z.object({ organizationId: givenId }),
    ...operation('admin.organizations.liftSuspension', {
      access: 'platform-admin',
      errors: ['NOT_FOUND'],
      response: lifted,
    }),
  },
  overridePlan: {
    method: 'PUT',
    path: '/admin/organizations/:organizationId/plan-override',
    summary: 'Give an organization a plan or limits by hand',
    description:
      'Until a time they stand in place of the plan and the limits that it pays for; afterwards those hold again by themselves. No event of the payment provider changes them, nor are its events lost. Doing it again replaces all of it. Without billing nothing is capped.',
    pathParams: z.object({ organizationId: givenId }),
    body: z
      .object({
        plan: planName.optional(),
        limits: planLimits
          .partial()
          .meta({ id: 'OverrideLimits', examples: [{ aiCredits: 5000 }] })
          .optional(),
        until: dateTime.meta({ examples: ['2999-12-31T00:00:00.000Z'] }),
        reason: reason.meta({ examples: ['A trial of the whole library.'] }),
      })
      .meta({ id: 'OverridePlan' }),
    ...operation('admin.organizations.overridePlan', { access: 'platform-admin', errors: ['NOT_FOUND'], response: planOverride }),
  },
  endPlanOverride: {
    method: 'DELETE',
    path: '/admin/organizations/:organizationId/plan-override',
    summary: 'End a plan or limits by hand',
    description: 'What the organization pays for holds again. NOT_FOUND if nothing was given by hand.',
    pathParams: z.object({ organizationId: givenId }),
    ...operation('admin.organizations.endPlanOverride', {
      access: 'platform-admin',
      errors: ['NOT_FOUND'],
      response: lifted,
    }),
  },
  delete: {
    method: 'DELETE',
    path: '/admin/organizations/:organizationId',
    summary: 'Delete an organization',
    description:
      'Deletes the stored objects of the organization, then everything it owns. `confirmSlug` must be its slug. It is PRECONDITION_FAILED while its subscription is live, also until the end of the period with which it was canceled. The response comes once the deletion is done. If that takes over a minute, it is SERVICE_UNAVAILABLE and the deletion goes on; a repeated request waits for the same one.',
    pathParams: z.object({ organizationId: givenId }),
    body: deleteOrganization,
    ...operation('admin.organizations.delete', {
      access: 'platform-admin',
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED', 'LEGAL_HOLD'],
      response: organizationDeletion,
    }),
  },
});

const flags = c.router({
  list: {
    method: 'GET',
    path: '/admin/flags',
    summary: 'List feature flags',
    description: 'Every flag with its default and its overrides, by key.',
    ...operation('admin.flags.list', { access: 'platform-admin', response: z.array(flagSchema) }),
  },
  upsert: {
    method: 'PUT',
    path: '/admin/flags/:key',
    summary: 'Create or change a feature flag',
    description: 'Creates the flag if there is none (off, without description), and sets what is given.',
    pathParams: z.object({ key: flagKey }),
    body: z
      .object({
        description: withExample(singleLine({ max: 200 }).optional(), 'Rank search results a second time.'),
        enabled: z.boolean().optional(),
      })
      .optional()
      .meta({ id: 'UpsertFlag' }),
    ...operation('admin.flags.upsert', { access: 'platform-admin', response: flagSchema }),
  },
  delete: {
    method: 'DELETE',
    path: '/admin/flags/:key',
    summary: 'Delete a feature flag',
    description: 'Removes the flag and its overrides.',
    pathParams: z.object({ key: flagKey }),
    ...operation('admin.flags.delete', {
      access: 'platform-admin',
      errors: ['NOT_FOUND'],
      response: z.object({ key: flagKey }).meta({ id: 'DeletedFlag' }),
    }),
  },
  setOverride: {
    method: 'PUT',
    path: '/admin/flags/:key/organizations/:organizationId',
    summary: 'Override a feature flag for an organization',
    description: 'Sets the flag for one organization; null removes the override.',
    pathParams: z.object({ key: flagKey, organizationId: givenId }),
    body: z.object({ enabled: z.boolean().nullable() }).meta({ id: 'SetFlagOverride' }),
    ...operation('admin.flags.setOverride', { access: 'platform-admin', errors: ['NOT_FOUND'], response: flagSchema }),
  },
});

const system = c.router({
  status: {
    method: 'GET',
    path: '/admin/system',
    summary: 'System status',
    description: 'What each part of the deployment says right now, measured for this request.',
    ...operation('admin.system.status', { access: 'platform-admin', response: systemStatus }),
  },
  stuck: {
    method: 'GET',
    path: '/admin/system/stuck',
    summary: 'What is stuck, and why',
    description: `What should have moved and has not, with the likely reason, the oldest first: at most ${maxStuck}. A backlog that makes progress is not stuck. \`npm run ops -- stuck\` lists the same.`,
    ...operation('admin.system.stuck', { access: 'platform-admin', response: stuckWork }),
  },
  outages: {
    method: 'GET',
    path: '/admin/system/outages',
    summary: 'What is down',
    description:
      'Which of the AI service and the providers of its roles are known to be down, the longest first, and how many jobs wait for each. `npm run ops -- outages` lists the same.',
    ...operation('admin.system.outages', {
      access: 'platform-admin',
      response: z.object({ items: z.array(outage) }).meta({ id: 'Outages' }),
    }),
  },
  endOutage: {
    method: 'DELETE',
    path: '/admin/system/outages/:part',
    summary: 'End an outage by hand',
    description:
      'Lets the jobs that wait for a part go on at once, for example after its key was changed. If the part is still down, their attempts find that out anew.',
    pathParams: z.object({ part: outagePart }),
    ...operation('admin.system.endOutage', {
      access: 'platform-admin',
      errors: ['NOT_FOUND'],
      response: z.object({ part: outagePart }).meta({ id: 'EndedOutage' }),
    }),
  },
});

const platformAuditEntry = auditEntrySchema
  .extend({
    organizationId: id.nullable().describe('Null for what belongs to no organization: users, sessions, feature flags.'),
  })
  .meta({ id: 'PlatformAuditEntry' });

const auditLog = c.query({
  method: 'GET',
  path: '/admin/audit-log',
  summary: 'Read the audit log of the platform',
  description:
    'A page of what was done in all organizations and outside of any, newest first: also bans, roles, sessions revoked and impersonation. Filters that are given together all hold.',
  query: z.object({
    organizationId: givenId.optional().describe('Only entries of this organization, which may be deleted by now.'),
    actorId: givenId.optional().describe('Only what this user did.'),
    targetId: auditTarget
      .optional()
      .describe('Only what was done to this: the id of a user, session, document and so on, or the key of a flag.'),
    limit: queryInteger({ min: 1, max: 100, defaultValue: 50 }).describe('How many are returned at the most. A page also ends at 4 MiB.'),
    cursor: cursor.optional(),
  }),
  ...operation('admin.auditLog', {
    access: 'platform-admin',
    response: z.object({ entries: z.array(platformAuditEntry), nextCursor }).meta({ id: 'PlatformAuditPage' }),
  }),
});

const keptMail = z
  .object({
    id: z.string().meta({ examples: ['0198d2c4-7e2a-7b61-9d0f-3f6f2d1b9a10'] }),
    to: z.string().meta({ examples: ['ada@example.com'] }),
    subject: z.string().meta({ examples: ['Reset your password'] }),
    text: z
      .string()
      .describe('As plain text, with its links.')
      .meta({ examples: ['Choose a new password by opening this link within an hour: …'] }),
    createdAt: dateTime,
  })
  .meta({ id: 'KeptMail' });

const mails = c.router({
  list: {
    method: 'GET',
    path: '/admin/mails',
    summary: 'List the mails that are kept',
    description:
      'Outside of production a deployment without a mail server keeps its mails instead of sending them: here they are, newest first. Whoever reads them can use their links. It is PRECONDITION_FAILED where mails are sent.',
    query: z.object({
      limit: queryInteger({ min: 1, max: 100, defaultValue: 25 }).describe('How many are returned at the most.'),
      offset: queryInteger({ min: 0, defaultValue: 0 }).describe('How many are skipped.'),
    }),
    ...operation('admin.mails.list', {
      access: 'platform-admin',
      errors: ['PRECONDITION_FAILED'],
      response: z.object({ items: z.array(keptMail), total: count }).meta({ id: 'KeptMailList' }),
    }),
  },
});

export const admin = c.router({ organizations, flags, system, auditLog, mails });
