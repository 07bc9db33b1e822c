import { z } from 'zod';
import { count, cursor, dateTime, id, nextCursor, planLimits, planName, queryInteger, subscriptionStatus } from './fields.ts';
import { route } from './route.ts';

const usageSchema = z
  .object({
    plan: planName.nullable().describe('Null while billing is off.'),
    limits: planLimits.nullable().describe('Null while billing is off: nothing is capped.'),
    usage: z.object({ workspaces: count, members: count, pendingInvitations: count, aiCredits: count }),
    period: z.object({ start: dateTime, end: dateTime }).describe('The calendar month, UTC, that `aiCredits` counts.'),
  })
  .meta({ id: 'Usage' });

export const auditEntrySchema = z
  .object({
    id,
    organizationId: z.string().nullable(),
    actorId: z.string().nullable(),
    actorEmail: z.string().nullable(),
    impersonatedBy: z.string().nullable().describe('The platform admin behind an impersonated session.'),
    action: z.string().meta({ examples: ['document.create'] }),
    targetType: z.string().nullable(),
    targetId: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    createdAt: dateTime,
  })
  .meta({ id: 'AuditEntry' });

export const organizations = {
  usage: route({
    operation: 'organizations.usage',
    method: 'GET',
    path: '/organizations/:organizationId/usage',
    access: 'member',
    summary: 'Usage against the plan',
    description: 'What the organization uses of its plan: workspaces, members, invitations and the credits of this month.',
    pathParams: z.object({ organizationId: id }),
    response: usageSchema,
  }),
  auditLog: route({
    operation: 'organizations.auditLog',
    method: 'GET',
    path: '/organizations/:organizationId/audit-log',
    access: 'auditLog:read',
    summary: 'Read the audit log',
    description: 'A page of what was done in the organization and by whom, newest first.',
    pathParams: z.object({ organizationId: id }),
    query: z.object({ limit: queryInteger({ min: 1, max: 100, defaultValue: 50 }), cursor: cursor.optional() }),
    response: z.object({ entries: z.array(auditEntrySchema), nextCursor }).meta({ id: 'AuditPage' }),
  }),
};

const billingSubscription = z.object({
  id,
  plan: z.string(),
  status: subscriptionStatus,
  seats: count.nullable(),
  periodEnd: dateTime.nullable(),
  trialEnd: dateTime.nullable(),
  cancelAtPeriodEnd: z.boolean(),
  cancelAt: dateTime.nullable(),
  billingInterval: z.string().nullable(),
});

export const billing = {
  status: route({
    operation: 'billing.status',
    method: 'GET',
    path: '/organizations/:organizationId/billing',
    access: 'billing:read',
    summary: 'Billing status',
    description: 'The plan, its limits, the subscription behind it, and the limits that the organization already exceeds.',
    pathParams: z.object({ organizationId: id }),
    response: z
      .object({
        enabled: z.boolean(),
        plan: planName.nullable(),
        limits: planLimits.nullable(),
        subscription: billingSubscription.nullable(),
        paymentFailed: z.boolean(),
        overLimit: z.array(z.object({ kind: z.enum(['workspaces', 'members', 'aiCredits']), current: count, limit: count })),
      })
      .meta({ id: 'BillingStatus' }),
  }),
};
