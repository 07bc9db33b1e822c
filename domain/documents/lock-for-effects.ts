import type { Transaction } from '../../db/connect.ts';
import { lockDocument, lockWorkspace } from '../locks.ts';
import { DocumentGone } from './document-gone.ts';
import type { DocumentRow } from './get-document.ts';

/** Locks a document for the effects of a job. Its chunks name its workspace, too. Throws {@link DocumentGone} if it was deleted meanwhile. */
export async function lockForEffects(trx: Transaction, document: Pick<DocumentRow, 'id' | 'workspace_id'>): Promise<void> {
  await lockWorkspace(trx, document.workspace_id, 'keep');
  if (!(await lockDocument(trx, document.id, 'change'))) throw new DocumentGone();
}
