import { z } from 'zod';
import { contract } from '../../contract/index.ts';
import { workspaceId } from './fields.ts';
import { defineTool, workspaceFor } from './tool.ts';

const { query, limit, mode, filter, groupBy } = contract.documents.search.body.shape;

export const searchDocuments = defineTool({
  name: 'search_documents',
  title: 'Search documents',
  description:
    'Finds the passages of a workspace that answer a query, best first, each with its document and its place there: page, headings, positions. Modes: `semantic` compares meaning, `lexical` words, `hybrid` both, which is best and the default. Cite what you use by document name and page.',
  operations: [contract.documents.search],
  writes: false,
  input: z.object({ query, workspaceId, limit, mode: mode.unwrap().default('hybrid'), filter, groupBy }),
  async call({ workspaceId: named, ...search }, context) {
    const input = { ...search, workspaceId: workspaceFor(context, named), include: ['citation' as const] };
    return context.run(context.procedures.documents.search, input);
  },
});
