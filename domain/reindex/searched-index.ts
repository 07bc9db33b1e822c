import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { firstChunking } from '../chunking/chunking.ts';
import type { DocumentRow } from '../documents/document.ts';
import { lockWorkspace, lockWorkspaceIndex } from '../locks.ts';
import type { IndexKind } from './index-kind.ts';

/**
 * With what a workspace is searched by meaning, so that queries and new documents are embedded by the same model; undefined while nothing is
 * indexed. In a workspace that was indexed before it was noted, it is what the document has that was indexed last.
 */
export async function readSearchedIndex(db: Db | Transaction, workspaceId: string): Promise<IndexKind | undefined> {
  const { rows } = await sql<IndexKind>`select * from (
    (select model, dimensions, chunking from workspace_index where workspace_id = ${workspaceId})
    union all
    (select chunk.model, cardinality(chunk.embedding), coalesce(document_index.chunking, ${firstChunking})
      from (
        select id, indexed_at from document where workspace_id = ${workspaceId} and indexed_at is not null and chunk_count > 0
        order by indexed_at desc limit 1
      ) as latest
      cross join lateral (select model, embedding from chunk where document_id = latest.id order by index limit 1) as chunk
      left join document_index on document_index.document_id = latest.id and document_index.indexed_at = latest.indexed_at)
    ) as known limit 1
  `.execute(db);
  return rows[0];
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
  const expected = read ?? made;
  await noteSearchedIndex(trx, workspaceId, expected);
  const kept = await lockWorkspaceIndex(trx, workspaceId, 'keep');
  if (kept?.model !== expected.model || kept.dimensions !== expected.dimensions) throw new IndexSwitched();
}

/** Locks what a workspace is searched with, so that no document is stored by it until the transaction ends. Needs the workspace's lock. */
export async function lockSearchedIndex(trx: Transaction, workspaceId: string, unlessNoted: IndexKind): Promise<void> {
  await noteSearchedIndex(trx, workspaceId, (await readSearchedIndex(trx, workspaceId)) ?? unlessNoted);
  await lockWorkspaceIndex(trx, workspaceId, 'delete');
}

async function noteSearchedIndex(trx: Transaction, workspaceId: string, { model, dimensions, chunking }: IndexKind): Promise<void> {
  await trx
    .insertInto('workspace_index')
    .values({ workspace_id: workspaceId, model, dimensions, chunking })
    .onConflict((conflict) => conflict.column('workspace_id').doNothing())
    .execute();
}
