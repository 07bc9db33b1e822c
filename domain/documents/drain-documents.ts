import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { inSlices, type Position } from '../drain.ts';
import { lockDocumentsForDeletion } from '../locks.ts';
import { forgetChunks } from '../search/forget-chunks.ts';
import type { DocumentRow } from './document.ts';

/** A document that a drain has deleted. */
type DrainedDocument = Pick<DocumentRow, 'id' | 'status' | 'object_key'>;

const documentsPerSlice = 200;
const chunksPerSlice = 1_000;

interface DrainOptions {
  /** Runs in the transaction that deletes these documents. */
  onDeleted?: (trx: Transaction, documents: DrainedDocument[]) => Promise<void>;
  onProgress: (documents: number) => void;
  signal: AbortSignal;
}

/**
 * Deletes the documents of a workspace with their texts and chunks, slice by slice. The workspace must take no more documents: it is
 * deleted, or its organization is being deleted. An interrupted drain is continued by another call.
 */
export async function drainDocuments(db: Db, workspaceId: string, { onDeleted, onProgress, signal }: DrainOptions): Promise<void> {
  await inSlices(async (after) => {
    const slice = await nextSlice(db, workspaceId, after);
    if (slice.length === 0) return undefined;
    const deleted = await inTransaction(db, async (trx) => {
      const documents = await deleteDocuments(
        trx,
        slice.map(({ id }) => id),
      );
      await onDeleted?.(trx, documents);
      return documents.length;
    });
    onProgress(deleted);
    return slice.at(-1);
  }, signal);
}

/** The next documents whose chunks together fit into a slice; at least one. */
async function nextSlice(db: Db, workspaceId: string, after: Position | undefined): Promise<Position[]> {
  let page = db
    .selectFrom('document')
    .select(['id', 'created_at', 'chunk_count'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(documentsPerSlice);
  if (after) page = page.where(sql<boolean>`(created_at, id) < (${after.created_at}, ${after.id})`);
  let chunks = 0;
  return (await page.execute()).filter(({ chunk_count }, position) => {
    chunks += chunk_count ?? 0;
    return position === 0 || chunks <= chunksPerSlice;
  });
}

/** Deletes their chunks first, since a cascade would search for the chunks of each document. */
async function deleteDocuments(trx: Transaction, ids: string[]): Promise<DrainedDocument[]> {
  const isOne = sql<string>`any(${ids}::text[])`;
  await lockDocumentsForDeletion(trx, ids);
  await forgetChunks(trx, ids);
  return await trx.deleteFrom('document').where('id', '=', isOne).returning(['id', 'status', 'object_key']).execute();
}
