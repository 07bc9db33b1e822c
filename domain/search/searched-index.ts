import type { Db, Transaction } from '../../db/connect.ts';
import type { DocumentRow } from '../documents/document.ts';
import { lockWorkspace, lockWorkspaceIndex } from '../locks.ts';
import type { IndexKind } from './index-kind.ts';

/**
 * With what a workspace is searched by meaning, so that queries and new documents are embedded by the same model; undefined while nothing is
 * indexed.
 */
export async function readSearchedIndex(db: Db | Transaction, workspaceId: string): Promise<IndexKind | undefined> {
  const read = db.selectFrom('workspace_index').select(['model', 'dimensions', 'chunking']).where('workspace_id', '=', workspaceId);
  return await read.executeTakeFirst();
}

/** The documents of the workspace were switched to another index while one of them was embedded for the earlier one. */
export class IndexSwitched extends Error {
  constructor() {
    super('The workspace was switched to another model meanwhile.');
    this.name = 'IndexSwitched';
  }
}

/**
 * Notes with what a workspace is searched, if nothing was noted, and keeps it so until the transaction ends. `read` is what
 * {@link readSearchedIndex} returned before the document was embedded, and `made` what it was indexed with. Throws {@link IndexSwitched} if the
 * workspace is searched with something else by now. Takes the workspace's lock, so it comes before the document's.
 */
export async function keepSearchedIndex(
  trx: Transaction,
  { workspace_id: workspaceId }: Pick<DocumentRow, 'workspace_id'>,
  { read, made }: { read: IndexKind | undefined; made: IndexKind },
): Promise<void> {
  // The document is gone as well then, and whoever stores its chunks says so.
  if (!(await lockWorkspace(trx, workspaceId, 'keep'))) return;
  const { model, dimensions, chunking } = read ?? made;
  await trx
    .insertInto('workspace_index')
    .values({ workspace_id: workspaceId, model, dimensions, chunking })
    .onConflict((conflict) => conflict.column('workspace_id').doNothing())
    .execute();
  const kept = await lockWorkspaceIndex(trx, workspaceId, 'keep');
  if (kept?.model !== model || kept.dimensions !== dimensions) throw new IndexSwitched();
}
