import type { Transaction } from '../../db/connect.ts';
import { DocumentGone } from './document-gone.ts';
import type { DocumentRow } from './get-document.ts';

/**
 * Locks a document for the effects of a job, and its workspace before it, as the lock order says: its chunks refer to both.
 * Throws {@link DocumentGone} where it was deleted meanwhile.
 */
export async function lockDocument(trx: Transaction, document: Pick<DocumentRow, 'id' | 'workspace_id'>): Promise<void> {
  await trx.selectFrom('workspace').select('id').where('id', '=', document.workspace_id).forKeyShare().execute();
  const locked = await trx.selectFrom('document').select('id').where('id', '=', document.id).forNoKeyUpdate().executeTakeFirst();
  if (!locked) throw new DocumentGone();
}
