import { z } from 'zod';
import { contract } from '../../contract/index.ts';
import { workspaceId } from './fields.ts';
import { defineTool, workspaceFor } from './tool.ts';

const { question, conversation, limit, mode, filter, maxSentences } = contract.documents.ask.body.shape;

export const askDocuments = defineTool({
  name: 'ask_documents',
  title: 'Ask documents',
  description:
    'Answers a question by sentences, items of lists and rows of tables of the documents of a workspace, letter for letter, each with its document, page, headings and positions. Whether they answer it is yours to judge. It costs credits; search_documents finds passages to read yourself.',
  operations: [contract.documents.ask],
  writes: false,
  input: z.object({ question, conversation, workspaceId, limit, mode: mode.unwrap().default('hybrid'), filter, maxSentences }),
  async call({ workspaceId: named, ...asked }, context) {
    return context.run(context.procedures.documents.ask, { ...asked, workspaceId: workspaceFor(context, named) });
  },
});
