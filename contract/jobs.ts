import { z } from 'zod';
import { jobError, notices, ocrPages } from './documents.ts';
import { fieldSchema } from './field-schema.ts';
import {
  count,
  cursor,
  dateTime,
  documentJobKinds,
  emptyBody,
  exampleId,
  exampleTime,
  givenId,
  id,
  nextCursor,
  pageNumber,
  position,
  queryBoolean,
  queryInteger,
  text,
  withExample,
} from './fields.ts';
import { c, operation } from './route.ts';

/** The kinds that every deployment has. */
export const usualJobKinds = [...documentJobKinds, 'text.summarize', 'text.embed'] as const;
/** The kinds that a deployment has if `EXTRA_JOB_KINDS` names them. */
export const extraJobKinds = ['document.extractFields', 'document.process'] as const;
export const jobKinds = [...usualJobKinds, ...extraJobKinds] as const;
export const jobStatuses = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const;
export type JobKind = (typeof jobKinds)[number];
export type ExtraJobKind = (typeof extraJobKinds)[number];
export type JobStatus = (typeof jobStatuses)[number];

/** The stages of a `document.process`, in their order: each does what the job `document.<stage>` does. */
export const processStages = ['extract', 'index', 'summarize'] as const;

const credits = {
  'document.extract': 1,
  'document.summarize': 5,
  'document.index': 2,
  'text.summarize': 5,
  'text.embed': 1,
  'document.extractFields': 10,
};

/** AI credits that each kind costs. */
export const jobCredits: Record<JobKind, number> = {
  ...credits,
  'document.process': processStages.reduce((sum, stage) => sum + credits[`document.${stage}`], 0),
};

/** The message for a kind that a deployment does not have. */
export const noSuchKind = `must be one of ${usualJobKinds.join(', ')}, or one that the deployment adds by EXTRA_JOB_KINDS`;

const maxAttempts = z.int().min(1).max(10).default(4).describe('How often the job is tried at the most.');
const maxSentences = z.int().min(1).max(50).default(5).describe('How long the summary may get.');
const exampleTexts = ['How often is the mirror cleaned?'];
const exampleText = 'The observatory stands on Korvid Ridge. Its mirrors are washed with deionised water every month.';
const summarizedText = text({ min: 1, max: 200_000 }).meta({ examples: [exampleText] });
const embeddedTexts = withExample(
  z
    .array(text({ min: 1, max: 8_000 }))
    .min(1)
    .max(16),
  exampleTexts,
);

const placement = {
  organizationId: givenId,
  workspaceId: givenId.nullable().optional().describe('The workspace that the job is filed under; it has to be one of the organization.'),
};

const once = z
  .boolean()
  .optional()
  .describe(
    'Returns the job of this kind, or of `document.process`, that the document has already, if it is queued or running or has succeeded, instead of charging for another one. It may have been queued by the `autoProcess` of the workspace. Its `result` is null for an API key without `job:read`.',
  )
  .meta({ examples: [true] });

const createJob = z
  .discriminatedUnion(
    'kind',
    [
      z.object({ kind: z.literal('document.extract'), documentId: givenId, maxAttempts, once }).meta({ id: 'CreateExtractJob' }),
      z
        .object({ kind: z.literal('document.summarize'), documentId: givenId, maxSentences, maxAttempts })
        .meta({ id: 'CreateDocumentSummaryJob' }),
      z.object({ kind: z.literal('document.index'), documentId: givenId, maxAttempts, once }).meta({ id: 'CreateIndexJob' }),
      z
        .object({ kind: z.literal('text.summarize'), ...placement, text: summarizedText, maxSentences, maxAttempts })
        .meta({ id: 'CreateTextSummaryJob' }),
      z.object({ kind: z.literal('text.embed'), ...placement, texts: embeddedTexts, maxAttempts }).meta({ id: 'CreateEmbedJob' }),
      z.object({ kind: z.literal('document.extractFields'), documentId: givenId, schema: fieldSchema, maxAttempts }).meta({
        id: 'CreateFieldsJob',
        description: 'Only if `EXTRA_JOB_KINDS` of the deployment names the kind, and a remote model writes its answers.',
      }),
      z.object({ kind: z.literal('document.process'), documentId: givenId, maxSentences, maxAttempts, once }).meta({
        id: 'CreateProcessJob',
        description:
          'Extracts, indexes and summarizes the document, one after the other, as one job. Only if `EXTRA_JOB_KINDS` of the deployment names the kind.',
      }),
    ],
    { error: noSuchKind },
  )
  .meta({ id: 'CreateJob' });

const retryOf = id.optional().describe('The job that this one retries.');

const model = z.string().meta({ examples: ['local-hash-256'] });
const dimensions = count.describe('The length of each vector.').meta({ examples: [256] });
const characters = count.meta({ examples: [9240] });
const sentences = count.meta({ examples: [5] });

const summaryResult = z
  .object({
    summary: z.string().meta({ examples: ['The observatory stands on Korvid Ridge.'] }),
    sentences,
    model: z.string().meta({ examples: ['local-extractive'] }),
    characters: characters.describe('The length of the text that was summarized.'),
  })
  .meta({ id: 'SummaryResult' });

const documentInput = z.object({ documentId: id, retryOf }).meta({ id: 'DocumentJobInput', examples: [{ documentId: exampleId }] });
const documentSummaryInput = z
  .object({ documentId: id, maxSentences: sentences, retryOf })
  .meta({ id: 'DocumentSummaryInput', examples: [{ documentId: exampleId, maxSentences: 5 }] });
const textSummaryInput = z
  .object({ text: z.string(), maxSentences: sentences, retryOf })
  .meta({ id: 'TextSummaryInput', examples: [{ text: exampleText, maxSentences: 5 }] });
const embedInput = z.object({ texts: z.array(z.string()), retryOf }).meta({ id: 'EmbedInput', examples: [{ texts: exampleTexts }] });
const extractResult = z
  .object({
    characters,
    pages: withExample(count.nullable().describe('Null for kinds that have no pages.'), 5),
    truncated: withExample(z.boolean().describe('Whether the document had more text than is kept.'), false),
    ocrPages,
    notices,
  })
  .meta({ id: 'ExtractResult' });
const indexResult = z.object({ chunks: count.meta({ examples: [12] }), characters, model, dimensions }).meta({ id: 'IndexResult' });
const embedResult = z
  .object({
    model,
    dimensions,
    vectors: withExample(z.array(z.array(z.number())).describe('One vector for each text, in their order.'), [[0.12, -0.08, 0.31]]),
  })
  .meta({ id: 'EmbedResult' });

const fieldsInput = z
  .object({
    documentId: id,
    schema: withExample(z.union([z.string(), z.record(z.string(), z.unknown())]).describe('As it was sent.'), 'invoice'),
    retryOf,
  })
  .meta({ id: 'FieldsInput', examples: [{ documentId: exampleId, schema: 'invoice' }] });
const extractedField = z
  .object({
    path: withExample(z.string().describe('Where the value stands in `data`, as a JSON Pointer.'), '/total'),
    value: z
      .union([z.string(), z.number(), z.boolean()])
      .nullable()
      .describe('Null if the document does not bear one out.')
      .meta({ examples: [1250.5] }),
    page: pageNumber.nullable().describe('The page that the quote begins on; null for kinds that have no pages.'),
    quote: withExample(z.string().nullable().describe('The words of the document, as they stand there.'), 'Total due: 1,250.50 EUR'),
    start: position.nullable().describe('Where the quote begins in the text of the document (`documents.text`).'),
    end: withExample(position.nullable().describe('Where it ends: the position after its last character.'), 1223),
    exact: withExample(z.boolean().describe('Always true: the quote stands there letter for letter.'), true),
    recognized: withExample(z.boolean().describe('Whether text recognition has read the page.'), false),
    confidence: z
      .number()
      .min(0)
      .max(1)
      .describe(
        'How firmly the quote bears the value out, by rules and not by chance: 1 for the words of the quote, 0.9 for its number or date in another form, 0.5 for a choice (`enum`, `boolean`) that no words prove. Half of that if another value of its kind stands nearer to the name of the field, and less by the doubt of text recognition; 0 for null.',
      )
      .meta({ examples: [0.9] }),
  })
  .meta({ id: 'ExtractedField', description: 'A value, and the place that bears it out. Positions count Unicode code points, from 0.' });
const fieldsResult = z
  .object({
    data: z
      .record(z.string(), z.unknown())
      .describe(
        'What the schema asks for, with all of its fields and no other. Values that the document does not bear out are null, whatever their type.',
      )
      .meta({ examples: [{ number: null, total: 1250.5 }] }),
    fields: z.array(extractedField).describe('One for each value of `data`.'),
    withheld: count
      .describe(
        'How many values of the model are left out: their quote does not stand in the document or does not have them, or the schema has no such field.',
      )
      .meta({ examples: [0] }),
    model: z.string().meta({ examples: ['gpt-4o-mini'] }),
    characters: characters.describe('The length of the text that was read.'),
  })
  .meta({ id: 'FieldsResult' });

const processResult = z
  .object({ extract: extractResult, index: indexResult, summarize: summaryResult })
  .meta({ id: 'ProcessResult', description: 'What each of the three stages resulted in.' });

const jobStatus = z.enum(jobStatuses).meta({ id: 'JobStatus' });

const jobFields = {
  id,
  organizationId: id,
  workspaceId: id.nullable(),
  documentId: id.nullable(),
  status: jobStatus.meta({ examples: ['succeeded'] }),
  error: withExample(jobError.nullable().describe('Why the last attempt failed; null where none did.'), null),
  attempts: count
    .describe('How often a worker has begun the job. An attempt whose workspace was locked for too long does not count.')
    .meta({ examples: [1] }),
  maxAttempts: count.meta({ examples: [4] }),
  credits: count.describe('What the job was charged; given back when it fails finally or is canceled.').meta({ examples: [5] }),
  createdBy: id.nullable(),
  createdAt: dateTime,
  startedAt: dateTime.nullable(),
  finishedAt: dateTime.nullable(),
  nextAttemptAt: dateTime
    .nullable()
    .describe('When a job that waits between two attempts is tried again; one that is `waiting`: at the latest.')
    .meta({ examples: [null] }),
  waiting: z
    .enum(['provider', 'suspension'])
    .optional()
    .describe(
      'Why no attempt begins: `provider`, while the AI service or the provider of a model that the job needs is known to be down; `suspension`, while the organization is suspended. Such a job goes on by itself, and a wait costs no attempt. Absent otherwise.',
    )
    .meta({ examples: ['provider'] }),
  updatedAt: dateTime,
};

function variant<K extends JobKind, I extends z.ZodType, R extends z.ZodType>(kind: K, input: I, result: R) {
  const credits = jobFields.credits.meta({ examples: [jobCredits[kind]] });
  const documentId = jobFields.documentId.meta({ examples: [kind.startsWith('document.') ? exampleId : null] });
  return z.object({ ...jobFields, documentId, credits, kind: z.literal(kind), input, result: result.nullable() });
}

const extractJob = variant('document.extract', documentInput, extractResult);
const documentSummaryJob = variant('document.summarize', documentSummaryInput, summaryResult);
const indexJob = variant('document.index', documentInput, indexResult);
const textSummaryJob = variant('text.summarize', textSummaryInput, summaryResult);
const embedJob = variant('text.embed', embedInput, embedResult);
const fieldsJob = variant('document.extractFields', fieldsInput, fieldsResult);
const processJob = variant('document.process', documentSummaryInput, processResult).extend({
  progress: z
    .int()
    .min(0)
    .max(100)
    .describe('How much is done, in percent: 33 once the text is extracted, 67 once it is indexed, 100 once the job has succeeded.')
    .meta({ examples: [100] }),
});

/** A job in full; `result` is null until it has succeeded. */
export const jobSchema = z
  .discriminatedUnion('kind', [
    extractJob.meta({ id: 'ExtractJob' }),
    documentSummaryJob.meta({ id: 'DocumentSummaryJob' }),
    indexJob.meta({ id: 'IndexJob' }),
    textSummaryJob.meta({ id: 'TextSummaryJob' }),
    embedJob.meta({ id: 'EmbedJob' }),
    fieldsJob.meta({ id: 'FieldsJob' }),
    processJob.meta({ id: 'ProcessJob' }),
  ])
  .meta({ id: 'Job' });

/** A job in a list: `result` is present only if `includeResult` asks for it. */
export const jobListItemSchema = z
  .discriminatedUnion('kind', [
    extractJob.partial({ result: true }).meta({ id: 'ExtractJobListItem' }),
    documentSummaryJob.partial({ result: true }).meta({ id: 'DocumentSummaryJobListItem' }),
    indexJob.partial({ result: true }).meta({ id: 'IndexJobListItem' }),
    textSummaryJob.partial({ result: true }).meta({ id: 'TextSummaryJobListItem' }),
    embedJob.partial({ result: true }).meta({ id: 'EmbedJobListItem' }),
    fieldsJob.partial({ result: true }).meta({ id: 'FieldsJobListItem' }),
    processJob.partial({ result: true }).meta({ id: 'ProcessJobListItem' }),
  ])
  .meta({ id: 'JobListItem' });

const finishedOnly = { input: true, result: true } as const;

/** A job in the stream: `input` and `result` are present once it is final. */
export const jobEventSchema = z
  .discriminatedUnion('kind', [
    extractJob.partial(finishedOnly).meta({ id: 'ExtractJobEvent' }),
    documentSummaryJob.partial(finishedOnly).meta({ id: 'DocumentSummaryJobEvent' }),
    indexJob.partial(finishedOnly).meta({ id: 'IndexJobEvent' }),
    textSummaryJob.partial(finishedOnly).meta({ id: 'TextSummaryJobEvent' }),
    embedJob.partial(finishedOnly).meta({ id: 'EmbedJobEvent' }),
    fieldsJob.partial(finishedOnly).meta({ id: 'FieldsJobEvent' }),
    processJob.partial(finishedOnly).meta({ id: 'ProcessJobEvent' }),
  ])
  .meta({ id: 'JobEvent' });

const justQueued = { status: 'queued', attempts: 0, result: null, startedAt: null, finishedAt: null };

export const jobs = c.router({
  list: {
    method: 'GET',
    path: '/organizations/:organizationId/jobs',
    summary: 'List jobs',
    description: 'A page of the jobs of the organization, newest first, narrowed by workspace, document, kind or status.',
    pathParams: z.object({ organizationId: givenId }),
    query: z.object({
      workspaceId: givenId.optional().describe('Only those of this workspace.'),
      documentId: givenId.optional().describe('Only those of this document.'),
      kind: z.enum(jobKinds).optional().describe('Only those of this kind.'),
      status: jobStatus.optional().describe('Only those in this status.'),
      limit: queryInteger({ min: 1, max: 100, defaultValue: 25 }).describe('How many are returned at the most. A page also ends at 4 MiB.'),
      cursor: cursor.optional(),
      includeResult: queryBoolean(false).describe('Whether the jobs carry their result.'),
    }),
    ...operation('jobs.list', {
      access: 'job:read',
      errors: ['NOT_FOUND'],
      response: z.object({ items: z.array(jobListItemSchema), nextCursor }).meta({ id: 'JobPage' }),
    }),
  },
  get: {
    method: 'GET',
    path: '/jobs/:id',
    summary: 'Get a job',
    description: 'The job with its input, and its result once it has succeeded.',
    pathParams: z.object({ id: givenId }),
    ...operation('jobs.get', { access: 'job:read', errors: ['NOT_FOUND'], response: jobSchema }),
  },
  create: {
    method: 'POST',
    path: '/jobs',
    summary: 'Queue a job',
    description:
      'Charges the credits of the kind and queues the job. Kinds on a document take organization and workspace from it, and need its upload to be complete; summarizing or indexing a document that has no text yet extracts it first. A failed attempt is tried again after 10, 30 and 90 seconds; a job that fails finally gives its credits back.',
    body: createJob,
    ...operation('jobs.create', {
      access: 'job:create',
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED', 'LIMIT_REACHED'],
      idempotent: true,
      answerExample: justQueued,
      response: jobSchema,
    }),
  },
  createMany: {
    method: 'POST',
    path: '/organizations/:organizationId/jobs',
    summary: 'Queue many jobs',
    description:
      'Queues up to 100 jobs of the organization, all or none, each as `jobs.create` does. The error of one refuses all; its message begins with the index of the job: `jobs[3]: …`. A job of another organization is FORBIDDEN.',
    pathParams: z.object({ organizationId: givenId }),
    body: z
      .object({
        jobs: withExample(z.array(createJob).min(1).max(100), [{ kind: 'document.index', documentId: exampleId }]),
      })
      .meta({ id: 'CreateJobs' }),
    ...operation('jobs.createMany', {
      access: 'job:create',
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED', 'LIMIT_REACHED'],
      idempotent: true,
      response: z.object({ items: z.array(jobSchema).describe('The jobs, in the order of the request.') }).meta({ id: 'CreatedJobs' }),
    }),
  },
  cancel: {
    method: 'POST',
    path: '/jobs/:id/cancel',
    summary: 'Cancel a queued job',
    description:
      'Cancels the job and gives its credits back, also while it waits between two attempts. A job that is running or finished is CONFLICT.',
    pathParams: z.object({ id: givenId }),
    body: emptyBody,
    ...operation('jobs.cancel', {
      access: 'job:cancel',
      errors: ['NOT_FOUND', 'CONFLICT'],
      answerExample: { ...justQueued, status: 'canceled', finishedAt: exampleTime },
      response: jobSchema,
    }),
  },
  retry: {
    method: 'POST',
    path: '/jobs/:id/retry',
    summary: 'Retry a failed job',
    description:
      'Queues a new job with the input of the failed one, charged again; its `input.retryOf` names the original, which stays failed.',
    pathParams: z.object({ id: givenId }),
    body: emptyBody,
    ...operation('jobs.retry', {
      access: 'job:create',
      errors: ['NOT_FOUND', 'CONFLICT', 'LIMIT_REACHED'],
      idempotent: true,
      answerExample: { ...justQueued, input: { retryOf: exampleId } },
      response: jobSchema,
    }),
  },
  stream: {
    method: 'GET',
    path: '/organizations/:organizationId/jobs/stream',
    summary: 'Follow jobs as they change',
    description:
      'Server-sent events. Each `message` event carries a whole job as its data and an opaque `id`; send that as `Last-Event-Id` when you reconnect, and nothing is missed (an event may come twice). Without it the stream begins with what happens next, and the header `Last-Event-Id` of the response tells where that is. An `error` event carries the error envelope, then the stream ends. A connection lasts 15 minutes at the most; a user may hold five, and one with the `Stream-Id` of an earlier one takes its place.',
    pathParams: z.object({ organizationId: givenId }),
    query: z.object({
      workspaceId: givenId.optional().describe('Only the jobs of this workspace; those that end because it is deleted too.'),
    }),
    ...operation('jobs.stream', { access: 'job:read', errors: ['NOT_FOUND'], stream: true, response: jobEventSchema }),
  },
});
