import { z } from 'zod';
import { contract } from '../../contract/index.ts';
import { workspaceId } from './fields.ts';
import { countFitting } from './fit.ts';
import { defineTool, workspaceFor } from './tool.ts';

const { cursor, tag, contentType, status, name, sort } = contract.documents.list.query.shape;

export const listDocuments = defineTool({
  name: 'list_documents',
  title: 'List documents',
  description: 'A page of the documents of a workspace, newest first unless `sort` says otherwise, with what is known of each.',
  operations: [contract.documents.list],
  writes: false,
  input: z.object({
    workspaceId,
    limit: z.int().min(1).max(100).default(25).describe('How many are returned at the most.'),
    ...{ cursor, tag, contentType, status, name, sort },
  }),
  async call({ workspaceId: named, ...filter }, context) {
    const workspaceId = workspaceFor(context, named);
    const input = { ...filter, organizationId: await context.organizationOf(workspaceId), workspaceId };
    const read = (limit: number) => context.run(context.procedures.documents.list, { ...input, limit });
    const page = await read(input.limit);
    const limit = countFitting(page.items);
    const { items, nextCursor } = limit < page.items.length ? await read(limit) : page;
    return { documents: items, nextCursor };
  },
});
