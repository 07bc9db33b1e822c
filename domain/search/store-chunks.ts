import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { toRealArray } from '../../db/real-array.ts';
import type { ChunkPosition } from '../chunking/cut-chunks.ts';
import type { DocumentRow } from '../documents/document.ts';
import { newId } from '../ids.ts';
import { lockForEffects } from '../locks.ts';
import { forgetChunks } from './forget-chunks.ts';
import type { IndexKind } from './index-kind.ts';
import { hasPgvector, storeChunkVectors } from './pgvector.ts';
import { Postings } from './postings.ts';
import { toUnitLength } from './unit-vector.ts';
import { storeVectorBlocks } from './vector-blocks.ts';

export interface EmbeddedChunk {
  text: string;
  embedding: ArrayLike<number>;
  position?: ChunkPosition | undefined;
}

const rowsPerInsert = 100;

/**
 * Replaces all search data of a document by these chunks, whose vectors are of `kind`. Runs in one transaction with the job's result, so a
 * search sees either the old chunks or the new ones. Throws DocumentGone if the document was deleted meanwhile.
 */
export async function storeChunks(trx: Transaction, document: DocumentRow, kind: IndexKind, chunks: EmbeddedChunk[]): Promise<void> {
  await lockForEffects(trx, document);
  await trx
    .updateTable('document')
    .set({ indexed_at: sql`clock_timestamp()`, chunk_count: chunks.length, updated_at: sql`clock_timestamp()` })
    .where('id', '=', document.id)
    .execute();
  await forgetChunks(trx, [document.id]);
  if (chunks.length === 0) return;
  const vectors = chunks.map(({ embedding }) => toUnitLength(embedding));
  const postings = new Postings();
  for (let start = 0; start < chunks.length; start += rowsPerInsert) {
    const some = chunks.slice(start, start + rowsPerInsert);
    const inserted = insertChunks(document, kind.model, some, { start, vectors }).execute(trx);
    // The words are collected while the database inserts the rows. An error of the insert is thrown when it is awaited.
    inserted.catch(() => {});
    postings.add(some.map(({ text }) => text));
    await inserted;
  }
  await storeVectorBlocks(trx, document, { model: kind.model, vectors });
  if (await hasPgvector(trx)) await storeChunkVectors(trx, document.id);
  await postings.store(trx, document);
  const { id: document_id, organization_id, workspace_id } = document;
  const { model, dimensions, chunking } = kind;
  await trx.insertInto('document_index').values({ document_id, organization_id, workspace_id, model, dimensions, chunking }).execute();
}

/**
 * Uses few parameters, since one for each value takes long to build, bind and parse. Each row refers to a range of the array of all
 * vectors.
 */
function insertChunks(
  { id, organization_id, workspace_id }: DocumentRow,
  model: string,
  chunks: EmbeddedChunk[],
  { start, vectors }: { start: number; vectors: Float32Array[] },
) {
  const own = vectors.slice(start, start + chunks.length);
  let vectorEnd = 0;
  const rows = chunks.map(({ text, position }, offset) => {
    const vectorStart = vectorEnd + 1;
    vectorEnd += own[offset]?.length ?? 0;
    return {
      id: newId(),
      index: start + offset,
      text: text.toWellFormed(),
      vector_start: vectorStart,
      vector_end: vectorEnd,
      text_start: position?.start,
      text_end: position?.end,
      page: position?.page,
      page_breaks: position?.pageBreaks,
      headings: position?.headings,
    };
  });
  const joined = new Float32Array(own.flatMap((vector) => Array.from(vector)));
  return sql`
    insert into chunk (
      id, organization_id, workspace_id, document_id, index, text, model, embedding, text_start, text_end, page, page_breaks, headings
    )
    select
      id, ${organization_id}, ${workspace_id}, ${id}, index, text, ${model}, (${toRealArray(joined)}::real[])[vector_start:vector_end],
      text_start, text_end, page, page_breaks, headings
    from json_to_recordset(${JSON.stringify(rows)}) as chunk (
      id text, index int, text text, vector_start int, vector_end int, text_start int, text_end int, page int, page_breaks int[], headings text[]
    )
  `;
}
