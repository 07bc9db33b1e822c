import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ChunkPosition } from '../chunking/cut-chunks.ts';
import { lockDocument, lockWorkspace } from '../locks.ts';
import type { IndexKind } from '../search/index-kind.ts';
import type { EmbeddedChunk } from '../search/store-chunks.ts';
import type { BehindDocument } from './find-behind.ts';

/** The chunks of a document that were embedded anew. */
interface StagedChunks {
  kind: IndexKind;
  chunks: EmbeddedChunk[];
}

/**
 * Stores a document's new chunks until its workspace is switched; before that no search reads them. Returns false and stores nothing if the
 * document was deleted, indexed or extracted again in the meantime.
 */
export async function stageDocument(
  db: Db,
  { documentId, indexedAt, extractedAt }: BehindDocument,
  { kind, chunks }: StagedChunks,
): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    const found = await trx.selectFrom('document').select('workspace_id').where('id', '=', documentId).executeTakeFirst();
    if (!found || !(await lockWorkspace(trx, found.workspace_id, 'share'))) return false;
    // A transaction that stores a text deletes the staged chunks, and must not miss these.
    const document = await lockDocument(trx, documentId, 'change');
    if (!document || !isSameTime(document.indexed_at, indexedAt) || !isSameTime(document.extracted_at, extractedAt)) return false;
    const { organization_id, workspace_id } = document;
    const staged = {
      ...{ organization_id, workspace_id, ...kind },
      texts: chunks.map(({ text }) => text),
      positions: JSON.stringify(chunks.map(({ position }) => position ?? null)),
      vectors: Buffer.from(new Float32Array(chunks.flatMap(({ embedding }) => Array.from(embedding))).buffer),
    };
    await trx
      .insertInto('staged_index')
      .values({ document_id: documentId, ...staged })
      .onConflict((conflict) => conflict.column('document_id').doUpdateSet(staged))
      .execute();
    return true;
  });
}

/** The staged chunks of a document; undefined if there are none. */
export async function readStaged(trx: Transaction, documentId: string): Promise<StagedChunks | undefined> {
  const { rows } = await sql<IndexKind & { texts: string[]; positions: (ChunkPosition | null)[]; vectors: Buffer }>`
    select model, dimensions, chunking, texts, positions, vectors from staged_index where document_id = ${documentId}
  `.execute(trx);
  const [row] = rows;
  if (!row) return undefined;
  const { texts, positions, vectors, ...kind } = row;
  // A copy, since floats must be aligned to four bytes.
  const floats = new Float32Array(new Uint8Array(vectors).buffer);
  const chunks = texts.map((text, index) => ({
    text,
    position: positions[index] ?? undefined,
    embedding: floats.subarray(index * kind.dimensions, (index + 1) * kind.dimensions),
  }));
  return { kind, chunks };
}

function isSameTime(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime();
}
