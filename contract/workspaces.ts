import { z } from 'zod';
import { automaticJobKinds, byteCount, creditBudget, dateTime, deleted, distinct, documentJobKinds, givenId, id, slug } from './fields.ts';
import { displayName } from './names.ts';
import { c, operation } from './route.ts';

export const storageSchema = z
  .object({
    usedBytes: byteCount.describe('What the pending and ready documents take.').meta({ examples: [48_213] }),
    limitBytes: byteCount
      .nullable()
      .describe('Null while billing is off.')
      .meta({ examples: [5_000_000_000] }),
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

const workspaceFields = {
  id,
  organizationId: id,
  teamId: id
    .nullable()
    .describe('The team that the workspace belongs to.')
    .meta({ examples: [null] }),
  name: z.string().meta({ examples: ['Field notes'] }),
  slug: z.string().meta({ examples: ['field-notes'] }),
  autoProcess: autoProcess.default([]).describe('The kinds of jobs that are queued for each upload as it is completed.'),
  creditBudget: creditBudget.default(null),
  onDuplicate: onDuplicate
    .default('allow')
    .describe(
      'What becomes of an upload whose content a document of the workspace has already: it is another document, that one is answered, or it is refused with CONFLICT.',
    ),
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
      'Changes what is given and leaves the rest. `teamId: null` takes the workspace out of its team, `autoProcess: []` ends what it does with uploads by itself. Who gives kinds of jobs must hold `job:create`, too; who gives or lifts a budget, `billing:manage`.',
    pathParams: z.object({ id: givenId }),
    body: z
      .object({
        ...{ name: workspaceName.optional(), slug: slug.optional(), teamId: givenId.nullable().optional() },
        autoProcess: autoProcess.optional().describe('Jobs to queue for each upload as it is completed.'),
        creditBudget: creditBudget.optional(),
        onDuplicate: onDuplicate.optional(),
      })
      .optional()
      .meta({ id: 'UpdateWorkspace' }),
    ...operation('workspaces.update', { access: 'workspace:update', errors: ['NOT_FOUND', 'CONFLICT'], response: workspaceSchema }),
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
