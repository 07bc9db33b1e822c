import { z } from 'zod';
import { count, cursor, dateTime, id, nextCursor, queryBoolean, queryInteger, text } from './fields.ts';
import { route } from './route.ts';

export const jobKinds = ['document.extract', 'document.summarize', 'document.index', 'text.summarize', 'text.embed'] as const;
export const jobStatuses = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const;
export type JobKind = (typeof jobKinds)[number];
export type JobStatus = (typeof jobStatuses)[number];

/** AI credits that each kind costs (spec §2). */
export const jobCredits: Record<JobKind, number> = {
  'document.extract': 1,
  'document.summarize': 5,
  'document.index': 2,
  'text.summarize': 5,
  'text.embed': 1,
};

const maxAttempts = z.int().min(1).max(10).default(4).describe('How often the job is tried at the most.');
const maxSentences = z.int().min(1).max(50).default(5);
const summarizedText = text({ min: 1, max: 200_000 });
const embeddedTexts = z
  .array(text({ min: 1, max: 8_000 }))
  .min(1)
  .max(16);

const placement = { organizationId: id, workspaceId: id.nullable().optional() };

const createJob = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('document.extract'), documentId: id, maxAttempts }).meta({ id: 'CreateExtractJob' }),
    z.object({ kind: z.literal('document.summarize'), documentId: id, maxSentences, maxAttempts }).meta({ id: 'CreateDocumentSummaryJob' }),
    z.object({ kind: z.literal('document.index'), documentId: id, maxAttempts }).meta({ id: 'CreateIndexJob' }),
    z
      .object({ kind: z.literal('text.summarize'), ...placement, text: summarizedText, maxSentences, maxAttempts })
      .meta({ id: 'CreateTextSummaryJob' }),
    z.object({ kind: z.literal('text.embed'), ...placement, texts: embeddedTexts, maxAttempts }).meta({ id: 'CreateEmbedJob' }),
  ])
  .meta({ id: 'CreateJob' });

const retryOf = z.string().optional().describe('The job that this one retries.');

const summaryResult = z.object({
  summary: z.string(),
  sentences: count,
  model: z.string(),
  characters: count.describe('The length of the text that was summarized.'),
});

const documentInput = z.object({ documentId: z.string(), retryOf });
const documentSummaryInput = z.object({ documentId: z.string(), maxSentences: count, retryOf });
const textSummaryInput = z.object({ text: z.string(), maxSentences: count, retryOf });
const embedInput = z.object({ texts: z.array(z.string()), retryOf });
const extractResult = z.object({ characters: count, pages: count.nullable(), truncated: z.boolean() });
const indexResult = z.object({ chunks: count, characters: count, model: z.string(), dimensions: count });
const embedResult = z.object({ model: z.string(), dimensions: count, vectors: z.array(z.array(z.number())) });

const jobFields = {
  id,
  organizationId: id,
  workspaceId: id.nullable(),
  documentId: id.nullable(),
  status: z.enum(jobStatuses),
  error: z.object({ code: z.string(), message: z.string() }).nullable().describe('Why the last attempt failed; null where none did.'),
  attempts: count.describe('How often a worker has begun the job.'),
  maxAttempts: count,
  credits: count.describe('What the job was charged; given back when it fails finally or is canceled.'),
  createdBy: id.nullable(),
  createdAt: dateTime,
  startedAt: dateTime.nullable(),
  finishedAt: dateTime.nullable(),
  nextAttemptAt: dateTime.nullable().describe('When a job that waits between two attempts is tried again.'),
  updatedAt: dateTime,
};

function variant<K extends JobKind, I extends z.ZodType, R extends z.ZodType>(kind: K, input: I, result: R) {
  return z.object({ ...jobFields, kind: z.literal(kind), input, result: result.nullable() });
}

const extractJob = variant('document.extract', documentInput, extractResult);
const documentSummaryJob = variant('document.summarize', documentSummaryInput, summaryResult);
const indexJob = variant('document.index', documentInput, indexResult);
const textSummaryJob = variant('text.summarize', textSummaryInput, summaryResult);
const embedJob = variant('text.embed', embedInput, embedResult);

/** A job in full; `result` is null until it has succeeded. */
export const jobSchema = z
  .discriminatedUnion('kind', [
    extractJob.meta({ id: 'ExtractJob' }),
    documentSummaryJob.meta({ id: 'DocumentSummaryJob' }),
    indexJob.meta({ id: 'IndexJob' }),
    textSummaryJob.meta({ id: 'TextSummaryJob' }),
    embedJob.meta({ id: 'EmbedJob' }),
  ])
  .meta({ id: 'Job' });

/** A job in a list: `result` is there only where `includeResult` asks for it. */
export const jobListItemSchema = z
  .discriminatedUnion('kind', [
    extractJob.partial({ result: true }).meta({ id: 'ExtractJobListItem' }),
    documentSummaryJob.partial({ result: true }).meta({ id: 'DocumentSummaryJobListItem' }),
    indexJob.partial({ result: true }).meta({ id: 'IndexJobListItem' }),
    textSummaryJob.partial({ result: true }).meta({ id: 'TextSummaryJobListItem' }),
    embedJob.partial({ result: true }).meta({ id: 'EmbedJobListItem' }),
  ])
  .meta({ id: 'JobListItem' });

const finishedOnly = { input: true, result: true } as const;

/** A job in the stream: `input` and `result` are there once it is finished (spec §6). */
export const jobEventSchema = z
  .discriminatedUnion('kind', [
    extractJob.partial(finishedOnly).meta({ id: 'ExtractJobEvent' }),
    documentSummaryJob.partial(finishedOnly).meta({ id: 'DocumentSummaryJobEvent' }),
    indexJob.partial(finishedOnly).meta({ id: 'IndexJobEvent' }),
    textSummaryJob.partial(finishedOnly).meta({ id: 'TextSummaryJobEvent' }),
    embedJob.partial(finishedOnly).meta({ id: 'EmbedJobEvent' }),
  ])
  .meta({ id: 'JobEvent' });

export const jobs = {
  list: route({
    operation: 'jobs.list',
    method: 'GET',
    path: '/organizations/:organizationId/jobs',
    access: 'job:read',
    summary: 'List jobs',
    description: 'A page of the jobs of the organization, newest first, narrowed by workspace, document or status.',
    errors: ['NOT_FOUND'],
    pathParams: z.object({ organizationId: id }),
    query: z.object({
      workspaceId: id.optional(),
      documentId: id.optional(),
      status: z.enum(jobStatuses).optional(),
      limit: queryInteger({ min: 1, max: 100, defaultValue: 25 }),
      cursor: cursor.optional(),
      includeResult: queryBoolean(false),
    }),
    response: z.object({ items: z.array(jobListItemSchema), nextCursor }).meta({ id: 'JobPage' }),
  }),
  get: route({
    operation: 'jobs.get',
    method: 'GET',
    path: '/jobs/:id',
    access: 'job:read',
    summary: 'Get a job',
    description: 'The job with its input, and its result once it has succeeded.',
    errors: ['NOT_FOUND'],
    pathParams: z.object({ id }),
    response: jobSchema,
  }),
  create: route({
    operation: 'jobs.create',
    method: 'POST',
    path: '/jobs',
    access: 'job:create',
    summary: 'Queue a job',
    description:
      'Charges the credits of the kind and queues the job. Kinds on a document take organization and workspace from it, and need its upload to be complete; summarizing or indexing a document that has no text yet extracts it first. A failed attempt is tried again after 10, 30 and 90 seconds; a job that fails finally gives its credits back.',
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED', 'LIMIT_REACHED'],
    idempotent: true,
    body: createJob,
    response: jobSchema,
  }),
  cancel: route({
    operation: 'jobs.cancel',
    method: 'POST',
    path: '/jobs/:id/cancel',
    access: 'job:cancel',
    summary: 'Cancel a queued job',
    description:
      'Cancels the job and gives its credits back, also while it waits between two attempts. A job that is running or finished is CONFLICT.',
    errors: ['NOT_FOUND', 'CONFLICT'],
    pathParams: z.object({ id }),
    body: z.object({}).optional().meta({ id: 'CancelJob' }),
    response: jobSchema,
  }),
  retry: route({
    operation: 'jobs.retry',
    method: 'POST',
    path: '/jobs/:id/retry',
    access: 'job:create',
    summary: 'Retry a failed job',
    description:
      'Queues a new job with the input of the failed one, charged again; its `input.retryOf` names the original, which stays failed.',
    errors: ['NOT_FOUND', 'CONFLICT', 'LIMIT_REACHED'],
    idempotent: true,
    pathParams: z.object({ id }),
    body: z.object({}).optional().meta({ id: 'RetryJob' }),
    response: jobSchema,
  }),
  stream: route({
    operation: 'jobs.stream',
    method: 'GET',
    path: '/organizations/:organizationId/jobs/stream',
    access: 'job:read',
    summary: 'Follow jobs as they change',
    description:
      'Server-sent events. Each `message` event carries a whole job as its data and an opaque `id`; send that as `Last-Event-Id` when you reconnect, and nothing is missed (an event may come twice). Without it the stream begins with what happens next. An `error` event carries the error envelope, then the stream ends. A connection lasts 15 minutes at the most; a user may hold five.',
    errors: ['NOT_FOUND'],
    stream: true,
    pathParams: z.object({ organizationId: id }),
    query: z.object({ workspaceId: id.optional() }),
    response: jobEventSchema,
  }),
};
