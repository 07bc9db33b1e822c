import { z } from 'zod';
import { dataSchemas } from './errors.ts';
import {
  automaticJobKinds,
  byteCount,
  costBudgetMicros,
  count,
  creditBudget,
  dateTime,
  deleted,
  distinct,
  documentJobKinds,
  givenId,
  id,
  optionalQueryInteger,
  slug,
  withExample,
} from './fields.ts';
import { displayName } from './names.ts';
import { c, operation } from './route.ts';

export const storageSchema = z
  .object({
    usedBytes: byteCount.describe('What the pending and ready documents take.').meta({ examples: [48_213] }),
    limitBytes: withExample(byteCount.nullable().describe('Null while billing is off.'), 5_000_000_000),
  })
  .meta({ id: 'Storage' });

const workspaceName = displayName({ max: 80 }).meta({ examples: ['Field notes'] });

/** The message for a kind that uploads cannot have, or that a deployment does not have. */
export const noSuchAutomaticKind = `must be one of ${documentJobKinds.join(', ')}, or one that the deployment adds by EXTRA_JOB_KINDS`;

const autoProcess = z
  .array(z.enum(automaticJobKinds, noSuchAutomaticKind))
  .max(documentJobKinds.length)
  .overwrite(distinct)
  .meta({ examples: [['document.index']] });

export const onDuplicate = z.enum(['allow', 'return', 'refuse']);
export type OnDuplicate = z.infer<typeof onDuplicate>;
/** What a workspace may keep for a number of days only. */
export const retentionKinds = ['documents', 'texts', 'jobs'] as const;
export type RetentionKind = (typeof retentionKinds)[number];

const maxDays = 36_500;
const days = withExample(z.int().min(1).max(maxDays), 90);
/** What each number of days counts from. */
const keptFrom = {
  documents: 'Since the upload. The document goes with its text and its object; its jobs stay.',
  texts: 'Since the text was extracted. It goes with its chunks, so that searches no longer find the document, which stays.',
  jobs: 'Since the job ended, with its input and result. No job is kept longer than the deployment keeps jobs.',
};

const retention = z
  .object({
    documents: days.nullable().describe(keptFrom.documents),
    texts: days.nullable().describe(keptFrom.texts),
    jobs: days.nullable().describe(keptFrom.jobs),
  })
  .meta({ id: 'Retention', description: 'For how many days a workspace keeps what; null for no end of its own.' });

const queryDays = optionalQueryInteger({ min: 1, max: maxDays }).describe('Instead of its own days.');

const due = z
  .object({
    count: count.meta({ examples: [12] }),
    oldest: dateTime.nullable().describe('When the oldest was uploaded, extracted, or ended.'),
    ids: z.array(id).describe('The first ten.'),
  })
  .meta({ id: 'Due' });

const workspaceFields = {
  id,
  organizationId: id,
  teamId: withExample(id.nullable().describe('The team that the workspace belongs to.'), null),
  name: z.string().meta({ examples: ['Field notes'] }),
  slug: z.string().meta({ examples: ['field-notes'] }),
  autoProcess: autoProcess.default([]).describe('The kinds of jobs that are queued for each upload as it is completed.'),
  creditBudget: creditBudget.default(null),
  costBudgetMicros: costBudgetMicros.default(null),
  onDuplicate: onDuplicate
    .default('allow')
    .describe(
      'What becomes of an upload whose content a document of the workspace has already: it is another document, that one is answered, or it is refused with CONFLICT.',
    ),
  retention: retention.default({ documents: null, texts: null, jobs: null }),
  createdAt: dateTime,
};

const workspaceSchema = z.object(workspaceFields).meta({ id: 'Workspace' });

export const workspaces = c.router({
  list: {
    method: 'GET',
    path: '/workspaces',
    summary: 'List workspaces',
    description: 'Every workspace of the organization, by name.',
    query: z.object({ organizationId: givenId.describe('The organization that the workspaces belong to.') }),
    ...operation('workspaces.list', { access: 'workspace:read', response: z.array(workspaceSchema) }),
  },
  get: {
    method: 'GET',
    path: '/workspaces/:slug',
    summary: 'Get a workspace by its slug',
    description: 'The workspace with this slug in the organization, with the bytes its documents use and may use.',
    pathParams: z.object({ slug }),
    query: z.object({ organizationId: givenId.describe('The organization that the workspace belongs to.') }),
    ...operation('workspaces.get', {
      access: 'workspace:read',
      errors: ['NOT_FOUND'],
      response: z.object({ ...workspaceFields, storage: storageSchema }).meta({ id: 'WorkspaceWithStorage' }),
    }),
  },
  create: {
    method: 'POST',
    path: '/workspaces',
    summary: 'Create a workspace',
    description:
      'Adds a workspace to the organization, optionally for one of its teams. The slug is unique within the organization: one that is taken is CONFLICT. One workspace more than the plan or the deployment allows is LIMIT_REACHED. Who gives `autoProcess` must hold `job:create`, too.',
    body: z
      .object({
        ...{ organizationId: givenId, teamId: givenId.nullable().optional(), name: workspaceName, slug },
        autoProcess: autoProcess.optional().describe('Jobs to queue for each upload as it is completed; none by default.'),
      })
      .meta({ id: 'CreateWorkspace' }),
    ...operation('workspaces.create', {
      access: 'workspace:create',
      errors: ['LIMIT_REACHED', 'NOT_FOUND', 'CONFLICT'],
      idempotent: true,
      response: workspaceSchema,
    }),
  },
  update: {
    method: 'PATCH',
    path: '/workspaces/:id',
    summary: 'Change a workspace',
    description:
      'Changes what is given and leaves the rest. `teamId: null` takes the workspace out of its team, `autoProcess: []` ends what it does with uploads by itself. Who gives kinds of jobs must hold `job:create`, too; who gives or lifts a budget, `billing:manage`; who changes `retention`, `workspace:delete`.',
    pathParams: z.object({ id: givenId }),
    body: z
      .object({
        ...{ name: workspaceName.optional(), slug: slug.optional(), teamId: givenId.nullable().optional() },
        autoProcess: autoProcess.optional().describe('Jobs to queue for each upload as it is completed.'),
        creditBudget: creditBudget.optional(),
        costBudgetMicros: costBudgetMicros.optional(),
        onDuplicate: onDuplicate.optional(),
        retention: retention.partial().optional().meta({ id: 'ChangeRetention', description: 'What is absent stays as it is.' }),
      })
      .optional()
      .meta({ id: 'UpdateWorkspace' }),
    ...operation('workspaces.update', { access: 'workspace:update', errors: ['NOT_FOUND', 'CONFLICT'], response: workspaceSchema }),
  },
  due: {
    method: 'GET',
    path: '/workspaces/:id/due',
    summary: 'See what retention would delete now',
    description:
      'A dry run: what the workspace would delete if its daily housekeeping ran now, by its own retention, or by the days that are given. Nothing is deleted while `hold` is there.',
    pathParams: z.object({ id: givenId }),
    query: z.object({ documents: queryDays, texts: queryDays, jobs: queryDays }),
    ...operation('workspaces.due', {
      access: 'workspace:read',
      errors: ['NOT_FOUND'],
      response: z.object({ documents: due, texts: due, jobs: due, hold: dataSchemas.LEGAL_HOLD.optional() }).meta({ id: 'DueForDeletion' }),
    }),
  },
  delete: {
    method: 'DELETE',
    path: '/workspaces/:id',
    summary: 'Delete a workspace',
    description:
      'Removes the workspace with its documents and their chunks at once; stored objects follow durably. Its jobs stay, without a workspace; those not finished fail and are refunded.',
    pathParams: z.object({ id: givenId }),
    ...operation('workspaces.delete', { access: 'workspace:delete', errors: ['NOT_FOUND', 'LEGAL_HOLD'], response: deleted }),
  },
});
