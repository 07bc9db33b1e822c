import type { Transaction } from '../../db/connect.ts';
import { type DocumentRow, documentNotFound } from '../documents/get-document.ts';
import { type WorkspaceRow, workspaceNotFound } from '../workspaces/get-workspace.ts';

/** Where a job belongs: found from its document, or named by the caller. */
export interface Placement {
  organizationId: string;
  workspaceId: string | null;
  documentId: string | null;
}

/**
 * Reads the workspace and the document that a new job refers to, and keeps both from being deleted until the transaction
 * ends; in the lock order, before the credits are counted. Throws NOT_FOUND.
 */
export async function lockPlacement(
  trx: Transaction,
  { workspaceId, documentId }: Placement,
): Promise<{ workspace: WorkspaceRow | undefined; document: DocumentRow | undefined }> {
  return {
    workspace: workspaceId === null ? undefined : await lockWorkspace(trx, workspaceId),
    document: documentId === null ? undefined : await lockDocument(trx, documentId),
  };
}

async function lockWorkspace(trx: Transaction, workspaceId: string): Promise<WorkspaceRow> {
  const workspace = await trx.selectFrom('workspace').selectAll().where('id', '=', workspaceId).forKeyShare().executeTakeFirst();
  if (!workspace) throw workspaceNotFound();
  return workspace;
}

async function lockDocument(trx: Transaction, documentId: string): Promise<DocumentRow> {
  const document = await trx.selectFrom('document').selectAll().where('id', '=', documentId).forKeyShare().executeTakeFirst();
  if (!document) throw documentNotFound();
  return document;
}
