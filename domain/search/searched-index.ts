import type { Db, Transaction } from '../../db/connect.ts';
import type { DocumentRow } from '../documents/document.ts';
import { lockWorkspace, lockWorkspaceIndex } from '../locks.ts';
import type { IndexKind } from './index-kind.ts';

/**
 * The index that a workspace is searched with by meaning, so that queries and new documents are embedded by the same model; undefined while
 * nothing is indexed.
 */
export async function readSearchedIndex(db: Db | Transaction, workspaceId: string): Promise<IndexKind | undefined> {
  const read = db.selectFrom('workspace_index').select(['model', 'dimensions', 'chunking']).where('workspace_id', '=', workspaceId);
  return await read.executeTakeFirst();
}

/** Thrown if the workspace was switched to another index while a document was embedded for the earlier one. */
export class IndexSwitched extends Error {
  constructor() {
    super('The workspace was switched to another model meanwhile.');
    this.name = 'IndexSwitched';
  }
}

/**
 * Records the index that a workspace is searched with, if none is recorded, and keeps it until the transaction ends. `read`: the result of
 * {@link readSearchedIndex} before the document was embedded. `made`: the index with which it was embedded. Throws {@link IndexSwitched} if the
 * workspace has another index by now. Takes the workspace's lock, so call it before locking the document.
 */
export async function keepSearchedIndex(
  trx: Transaction,
  { workspace_id: workspaceId }: Pick<DocumentRow, 'workspace_id'>,
  { read, made }: { read: IndexKind | undefined; made: IndexKind },
): Promise<void> {
  // The document is gone as well then, and storing its chunks reports that.
  if (!(await lockWorkspace(trx, workspaceId, 'share'))) return;
  const { model, dimensions, chunking } = read ?? made;
  await trx
    .insertInto('workspace_index')
    .values({ workspace_id: workspaceId, model, dimensions, chunking })
    .onConflict((conflict) => conflict.column('workspace_id').doNothing())
    .execute();
  const kept = await lockWorkspaceIndex(trx, workspaceId, 'share');
  if (kept?.model !== model || kept.dimensions !== dimensions) throw new IndexSwitched();
}
