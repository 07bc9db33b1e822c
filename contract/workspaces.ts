import { z } from 'zod';
import { byteCount, dateTime, deleted, id, singleLine, slug } from './fields.ts';
import { route } from './route.ts';

export const storageSchema = z
  .object({
    usedBytes: byteCount.describe('What the pending and ready documents take.').meta({ examples: [48_213] }),
    limitBytes: byteCount
      .nullable()
      .describe('Null while billing is off.')
      .meta({ examples: [5_000_000_000] }),
  })
  .meta({ id: 'Storage' });

const workspaceName = singleLine({ min: 1, max: 80 }).meta({ examples: ['Field notes'] });

const workspaceFields = {
  id,
  organizationId: id,
  teamId: id
    .nullable()
    .describe('The team that the workspace belongs to.')
    .meta({ examples: [null] }),
  name: z.string().meta({ examples: ['Field notes'] }),
  slug: z.string().meta({ examples: ['field-notes'] }),
  createdAt: dateTime,
};

const workspaceSchema = z.object(workspaceFields).meta({ id: 'Workspace' });

export const workspaces = {
  list: route({
    operation: 'workspaces.list',
    method: 'GET',
    path: '/workspaces',
    access: 'workspace:read',
    summary: 'List workspaces',
    description: 'Every workspace of the organization, by name.',
    query: z.object({ organizationId: id.describe('The organization that the workspaces belong to.') }),
    response: z.array(workspaceSchema),
  }),
  get: route({
    operation: 'workspaces.get',
    method: 'GET',
    path: '/workspaces/:slug',
    access: 'workspace:read',
    summary: 'Get a workspace by its slug',
    description: 'The workspace with this slug in the organization, with the bytes its documents use and may use.',
    errors: ['NOT_FOUND'],
    pathParams: z.object({ slug }),
    query: z.object({ organizationId: id.describe('The organization that the workspace belongs to.') }),
    response: z.object({ ...workspaceFields, storage: storageSchema }).meta({ id: 'WorkspaceWithStorage' }),
  }),
  create: route({
    operation: 'workspaces.create',
    method: 'POST',
    path: '/workspaces',
    access: 'workspace:create',
    summary: 'Create a workspace',
    description:
      'Adds a workspace to the organization, optionally for one of its teams. The slug is unique within the organization: one that is taken is CONFLICT. So is one workspace more than the deployment lets an organization have; `message` tells which it is.',
    errors: ['LIMIT_REACHED', 'NOT_FOUND', 'CONFLICT'],
    idempotent: true,
    body: z.object({ organizationId: id, teamId: id.nullable().optional(), name: workspaceName, slug }).meta({ id: 'CreateWorkspace' }),
    response: workspaceSchema,
  }),
  update: route({
    operation: 'workspaces.update',
    method: 'PATCH',
    path: '/workspaces/:id',
    access: 'workspace:update',
    summary: 'Change a workspace',
    description: 'Changes what is given and leaves the rest. `teamId: null` takes the workspace out of its team.',
    errors: ['NOT_FOUND', 'CONFLICT'],
    pathParams: z.object({ id }),
    body: z
      .object({ name: workspaceName.optional(), slug: slug.optional(), teamId: id.nullable().optional() })
      .optional()
      .meta({ id: 'UpdateWorkspace' }),
    response: workspaceSchema,
  }),
  delete: route({
    operation: 'workspaces.delete',
    method: 'DELETE',
    path: '/workspaces/:id',
    access: 'workspace:delete',
    summary: 'Delete a workspace',
    description:
      'Removes the workspace with its documents and their chunks at once; stored objects follow durably. Its jobs stay, without a workspace; those not finished fail and are refunded.',
    errors: ['NOT_FOUND'],
    pathParams: z.object({ id }),
    response: deleted,
  }),
};
