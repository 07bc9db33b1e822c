import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { lockDocument, lockStagedDocuments, lockWorkspace, lockWorkspaceIndex } from '../locks.ts';
import { type IndexKind, isSameKind } from '../search/index-kind.ts';
import { storeChunks } from '../search/store-chunks.ts';
import { listBehind } from './find-behind.ts';
import { readStaged } from './stage-document.ts';

const documentsPerRead = 500;

/** The number of switched documents, or why none was switched: the workspace is gone, or documents are not staged yet. */
export type Switched = { switched: number } | { gone: true } | { missing: number };

/**
 * Switches all documents of a workspace to their staged chunks in one transaction, so a search finds either the old ones or the new ones.
 * Does nothing if a document of another kind than `target` is not staged. Documents cannot be changed until it ends. Calls `onProgress`
 * with the count after each document. `db` is the pool for bulk work.
 */
export async function switchWorkspace(
  db: Db,
  { workspaceId, target }: { workspaceId: string; target: IndexKind },
  onProgress: (documents: number) => void,
): Promise<Switched> {
  return await inTransaction(db, async (trx) => {
    if (!(await lockWorkspace(trx, workspaceId, 'share'))) return { gone: true };
    await lockWorkspaceIndex(trx, workspaceId, 'delete');
    // Locks before looking for missing documents: afterwards nothing that is staged can become void.
    await lockStagedDocuments(trx, workspaceId);
    const behind = await listBehind(trx, { workspaceId, target, after: '', limit: documentsPerRead });
    if (behind.length > 0) return { missing: behind.length };
    let switched = 0;
    for (let after = ''; ; ) {
      const ids = await listStaged(trx, workspaceId, after);
      for (const id of ids) {
        if (await switchDocument(trx, id, target)) switched += 1;
        onProgress(switched);
      }
      const last = ids.at(-1);
      if (last === undefined) break;
      after = last;
    }
    await trx
      .updateTable('workspace_index')
      .set(({ fn }) => ({ ...target, switched_at: fn<Date>('clock_timestamp') }))
      .where('workspace_id', '=', workspaceId)
      .execute();
    return { switched };
  });
}

async function listStaged(trx: Transaction, workspaceId: string, after: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('staged_index')
    .select('document_id')
    .where('workspace_id', '=', workspaceId)
    .where('document_id', '>', after)
    .orderBy('document_id')
    .limit(documentsPerRead)
    .execute();
  return rows.map(({ document_id }) => document_id);
}

/** Returns false if the document is gone, or its staged chunks are for another target. */
async function switchDocument(trx: Transaction, documentId: string, target: IndexKind): Promise<boolean> {
  const document = await lockDocument(trx, documentId, 'change');
  const staged = await readStaged(trx, documentId);
  if (document && staged && isSameKind(staged.kind, target)) {
    await storeChunks(trx, document, target, staged.chunks);
    return true;
  }
  await trx.deleteFrom('staged_index').where('document_id', '=', documentId).execute();
  return false;
}
