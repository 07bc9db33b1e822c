import { z } from 'zod';
import { count, dateTime, flagKey, id, planName, queryInteger, singleLine, slug, subscriptionStatus, text } from './fields.ts';
import { route } from './route.ts';
import { socialProvider } from './system.ts';

const organizationSummary = z
  .object({
    id,
    name: z.string(),
    slug: z.string(),
    createdAt: dateTime,
    billingCustomerId: z.string().nullable(),
    members: count,
    workspaces: count,
    plan: planName.nullable(),
    seats: z.object({ billed: count.nullable(), members: count }),
    subscription: z
      .object({
        id,
        plan: z.string(),
        status: subscriptionStatus,
        seats: count.nullable(),
        periodEnd: dateTime.nullable(),
        cancelAtPeriodEnd: z.boolean(),
        billingSubscriptionId: z.string().nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'OrganizationSummary' });

const flagSchema = z
  .object({
    key: flagKey,
    description: z.string(),
    enabled: z.boolean().describe('The default for organizations without an override.'),
    overrides: z.array(z.object({ organizationId: id, enabled: z.boolean() })),
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .meta({ id: 'FeatureFlag' });

const latencyMs = z.number().nullable();

const systemStatus = z
  .object({
    version: z.string(),
    environment: z.string(),
    runtime: z.string(),
    startedAt: dateTime,
    uptimeSeconds: z.number(),
    counts: z.object({ users: count, organizations: count, workspaces: count, subscriptions: count }),
    database: z.object({
      ok: z.boolean(),
      latencyMs,
      error: z.string().nullable(),
      migrations: z
        .object({ shipped: count, applied: count, pending: z.array(z.string()), unknown: count, latestApplied: z.string().nullable() })
        .nullable(),
    }),
    ai: z.object({
      ok: z.boolean(),
      latencyMs,
      error: z.string().nullable(),
      url: z.string(),
      problems: z.array(z.string()).default([]),
      provider: z.string().nullable(),
      ocr: z.string().nullable(),
    }),
    queue: z.object({
      configured: z.boolean(),
      worker: z.enum(['inline', 'off']),
      concurrency: count,
      depth: count.nullable(),
      running: count.nullable(),
      failed: count.nullable(),
      oldestQueuedAt: dateTime.nullable(),
    }),
    storage: z.object({ driver: z.enum(['local', 'bucket']), location: z.string(), maxUploadBytes: count }),
    billing: z.object({ enabled: z.boolean(), unpricedPlans: z.array(z.string()) }),
    email: z.object({ provider: z.string(), from: z.string() }),
    auth: z.object({ socialProviders: z.array(socialProvider), requireEmailVerification: z.boolean() }),
  })
  .meta({ id: 'SystemStatus' });

const organizations = {
  list: route({
    operation: 'admin.organizations.list',
    method: 'GET',
    path: '/admin/organizations',
    access: 'platform-admin',
    summary: 'List organizations',
    description: 'Organizations by name, with their plan and subscription. `search` looks in name and slug, whatever the case.',
    query: z.object({
      search: text({ max: 80 }).optional(),
      limit: queryInteger({ min: 1, max: 100, defaultValue: 25 }),
      offset: queryInteger({ min: 0, defaultValue: 0 }),
    }),
    response: z.object({ items: z.array(organizationSummary), total: count }).meta({ id: 'OrganizationList' }),
  }),
  cancelSubscription: route({
    operation: 'admin.organizations.cancelSubscription',
    method: 'POST',
    path: '/admin/organizations/:organizationId/cancel-subscription',
    access: 'platform-admin',
    summary: 'Cancel a subscription',
    description: 'Cancels at the end of the paid period, or at once where `immediately` is true.',
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED', 'SERVICE_UNAVAILABLE'],
    pathParams: z.object({ organizationId: id }),
    body: z
      .object({ immediately: z.boolean().default(false) })
      .optional()
      .meta({ id: 'CancelSubscription' }),
    response: z.object({ status: subscriptionStatus, cancelAtPeriodEnd: z.boolean() }),
  }),
  delete: route({
    operation: 'admin.organizations.delete',
    method: 'DELETE',
    path: '/admin/organizations/:organizationId',
    access: 'platform-admin',
    summary: 'Delete an organization',
    description:
      'Deletes the stored objects of the organization, then everything it owns. `confirmSlug` must be its slug. Answers when the deletion is done; one that takes over a minute answers SERVICE_UNAVAILABLE and goes on, and asking again meets the same deletion.',
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED', 'SERVICE_UNAVAILABLE'],
    pathParams: z.object({ organizationId: id }),
    body: z.object({ confirmSlug: slug }).meta({ id: 'DeleteOrganization' }),
    response: z.object({ organizationId: id, objectsDeleted: count, objectsFailed: count }),
  }),
};

const flags = {
  list: route({
    operation: 'admin.flags.list',
    method: 'GET',
    path: '/admin/flags',
    access: 'platform-admin',
    summary: 'List feature flags',
    description: 'Every flag with its default and its overrides, by key.',
    response: z.array(flagSchema),
  }),
  upsert: route({
    operation: 'admin.flags.upsert',
    method: 'PUT',
    path: '/admin/flags/:key',
    access: 'platform-admin',
    summary: 'Create or change a feature flag',
    description: 'Creates the flag where there is none (off, without description), and sets what is given.',
    pathParams: z.object({ key: flagKey }),
    body: z
      .object({ description: singleLine({ max: 200 }).optional(), enabled: z.boolean().optional() })
      .optional()
      .meta({ id: 'UpsertFlag' }),
    response: flagSchema,
  }),
  delete: route({
    operation: 'admin.flags.delete',
    method: 'DELETE',
    path: '/admin/flags/:key',
    access: 'platform-admin',
    summary: 'Delete a feature flag',
    description: 'Removes the flag and its overrides.',
    errors: ['NOT_FOUND'],
    pathParams: z.object({ key: flagKey }),
    response: z.object({ key: flagKey }),
  }),
  setOverride: route({
    operation: 'admin.flags.setOverride',
    method: 'PUT',
    path: '/admin/flags/:key/organizations/:organizationId',
    access: 'platform-admin',
    summary: 'Override a feature flag for an organization',
    description: 'Sets the flag for one organization; null removes the override.',
    errors: ['NOT_FOUND'],
    pathParams: z.object({ key: flagKey, organizationId: id }),
    body: z.object({ enabled: z.boolean().nullable() }).meta({ id: 'SetFlagOverride' }),
    response: flagSchema,
  }),
};

const system = {
  status: route({
    operation: 'admin.system.status',
    method: 'GET',
    path: '/admin/system',
    access: 'platform-admin',
    summary: 'System status',
    description: 'What each part of the deployment answers right now, measured for this request.',
    response: systemStatus,
  }),
};

export const admin = { organizations, flags, system };
