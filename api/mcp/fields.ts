import { id } from '../../contract/fields.ts';

export const workspaceId = id.optional().describe('A workspace, from list_workspaces. A key of one workspace may leave it out.');
export const documentId = id.describe('A document, from search_documents or list_documents.');
