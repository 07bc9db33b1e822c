import { z } from 'zod';
import { count, dateTime, exampleId, id, planName, withExample } from './fields.ts';
import { jobKinds } from './jobs.ts';

const organizationId = id.describe('The organization in which it happened.');
const workspaceId = id.nullable();
const documentId = id.nullable();

const jobData = z.object({ organizationId, jobId: id, kind: z.enum(jobKinds), workspaceId, documentId }).meta({ id: 'JobEventData' });
const documentData = z.object({ organizationId, documentId: id, workspaceId: id }).meta({ id: 'DocumentEventData' });
const memberData = z
  .object({ organizationId, memberId: id, userId: id, role: z.string().meta({ examples: ['member'] }) })
  .meta({ id: 'MemberEventData' });
const creditData = z
  .object({
    organizationId,
    month: z.string().meta({ examples: ['2026-11-01'] }),
    used: count.meta({ examples: [1800] }),
    limit: count.meta({ examples: [2000] }),
    plan: planName,
  })
  .meta({ id: 'CreditEventData' });
const auditData = z
  .object({
    organizationId,
    entryId: id.describe('The id of the entry: the audit log has it, too.'),
    actorId: id.nullable(),
    actorEmail: withExample(z.string().nullable(), 'ada@example.com'),
    impersonatedBy: id.nullable().meta({ examples: [null] }),
    action: z.string().meta({ examples: ['document.create'] }),
    targetType: z.string().meta({ examples: ['document'] }),
    targetId: id,
    metadata: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('Null if it has none, or more than 8 KiB: then the audit log has it.')
      .meta({ examples: [{ name: 'handbook.pdf' }] }),
  })
  .meta({ id: 'AuditEventData' });
const subscriptionData = z
  .object({
    organizationId,
    subscriptionId: id,
    plan: z.string().meta({ examples: ['pro'] }),
    status: z.string().meta({ examples: ['active'] }),
  })
  .meta({ id: 'SubscriptionEventData' });

/** What comes with each event, mostly ids, and when it happens. */
const eventData = {
  'document.ready': { when: 'The upload of a document was completed, or a new version of it took its place.', data: documentData },
  'document.deleted': { when: 'A document that was ready is gone, by itself or with its workspace.', data: documentData },
  'job.succeeded': { when: 'A job has its result.', data: jobData },
  'job.failed': { when: 'A job has failed for good; its credits are given back.', data: jobData },
  'job.canceled': { when: 'A member has canceled a job.', data: jobData },
  'credits.low': {
    when: 'A tenth of the credits of the month is left, or less, by a charge or a smaller plan. Only with billing, for each month and limit.',
    data: creditData,
  },
  'credits.exhausted': {
    when: 'No credit of the month is left, by a charge or a smaller plan: then `used` may be above `limit`. Only with billing, for each month and limit.',
    data: creditData,
  },
  'subscription.changed': { when: 'The plan, the status or the end of the subscription has changed.', data: subscriptionData },
  'member.added': { when: 'A user is a member now.', data: memberData },
  'member.removed': { when: 'A user is no longer a member.', data: memberData },
  'audit.entry': { when: 'Something was written into the audit log, in no order; `organizations.auditFeed` has one.', data: auditData },
} as const satisfies Record<string, { when: string; data: z.ZodObject }>;

/** The kinds of events that an endpoint may ask for. */
export const webhookEventNames = Object.keys(eventData) as [WebhookEventName, ...WebhookEventName[]];
export type WebhookEventName = keyof typeof eventData;

/** What `webhooks.test` sends, which no endpoint has to ask for. */
export const webhookTest = 'webhook.test';
export type WebhookDeliveryEvent = WebhookEventName | typeof webhookTest;

const testEvent = {
  when: 'A member has asked for a test.',
  data: z.object({ organizationId, endpointId: id }).meta({ id: 'TestEventData' }),
};

/** The body of an event of each kind, as it is sent, and when it happens. */
export const webhookEvents = Object.entries({ ...eventData, [webhookTest]: testEvent }).map(([name, { when, data }]) => ({
  name,
  when,
  schema: z
    .object({
      type: z.literal(name),
      timestamp: dateTime.describe('When it happened.'),
      data,
    })
    .meta({ id: `${pascal(name)}Event`, description: when }),
}));

/** `JobSucceeded` for `job.succeeded`. */
function pascal(name: string): string {
  return name.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** An event's id, as the header `webhook-id` has it. */
export const eventId = z.string().meta({ examples: [`evt_${exampleId.replaceAll('-', '')}`] });
