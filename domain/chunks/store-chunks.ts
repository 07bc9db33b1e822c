import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { toRealArray } from '../../db/real-array.ts';
import { firstChunking } from '../chunking/chunking.ts';
import type { ChunkPlace } from '../chunking/place-chunks.ts';
import type { DocumentRow } from '../documents/document.ts';
import { newId } from '../ids.ts';
import { collectPostings, type DocumentPostings } from '../lexical/collect-postings.ts';
import { storePostings } from '../lexical/store-postings.ts';
import { lockForEffects } from '../locks.ts';
import type { IndexKind } from '../reindex/index-kind.ts';
import { quantize } from './quantize.ts';
import { toUnitLength } from './unit-vector.ts';
import { type QuantizedChunk, storeVectorBlocks } from './vector-blocks.ts';

export interface EmbeddedChunk {
  text: string;
  embedding: ArrayLike<number>;
  place?: ChunkPlace | undefined;
}

/**
 * How the text was cut, how many dimensions the model has (needed if there are no chunks), and the postings if they are collected already.
 */
export interface StoredWith extends Omit<IndexKind, 'model'> {
  postings?: DocumentPostings;
}

const rowsPerInsert = 100;

/**
 * Replaces a document's chunks by those of a new index, in one transaction with the job's result, so that a search sees the
 * old ones or the new ones. Throws DocumentGone if the document was deleted meanwhile.
 */
export async function storeChunks(
  trx: Transaction,
  document: DocumentRow,
  model: string,
  chunks: EmbeddedChunk[],
  { postings, ...kind }: StoredWith = { dimensions: chunks[0]?.embedding.length ?? 0, chunking: firstChunking },
): Promise<void> {
  await lockForEffects(trx, document);
  await trx
    .updateTable('document')
    .set({ indexed_at: sql`clock_timestamp()`, chunk_count: chunks.length, updated_at: sql`clock_timestamp()` })
    .where('id', '=', document.id)
    .execute();
  await trx.deleteFrom('chunk').where('document_id', '=', document.id).execute();
  const quantized: QuantizedChunk[] = [];
  let inserted: Promise<unknown> = Promise.resolve();
  for (let start = 0; start < chunks.length; start += rowsPerInsert) {
    const some = chunks.slice(start, start + rowsPerInsert);
    const vectors = some.map(({ embedding }) => toUnitLength(embedding));
    for (const vector of vectors) quantized.push({ model, dimensions: vector.length, vector: quantize(vector) });
    const insert = insertChunks(document, model, toRows(some, vectors, start), vectors);
    // While the database inserts some rows, the next ones are made.
    await inserted;
    inserted = insert.execute(trx);
    // Its failure is thrown when it is awaited.
    inserted.catch(() => {});
  }
  await inserted;
  await storeVectorBlocks(trx, document, quantized);
  const texts = chunks.map(({ text }) => text);
  await storePostings(trx, document, postings ?? (await collectPostings(texts, document.workspace_id)));
  await noteIndexKind(trx, document, { ...kind, model });
}

/** Chunks as they are inserted, but for their vectors, of which each has a range in the array of all. */
function toRows(chunks: EmbeddedChunk[], vectors: Float32Array[], firstIndex: number) {
  let vectorEnd = 0;
  return chunks.map(({ text, place }, offset) => {
    const vectorStart = vectorEnd + 1;
    vectorEnd += vectors[offset]?.length ?? 0;
    return {
      id: newId(),
      index: firstIndex + offset,
      text: text.toWellFormed(),
      vector_start: vectorStart,
      vector_end: vectorEnd,
      text_start: place?.start,
      text_end: place?.end,
      page: place?.page,
      page_breaks: place?.pageBreaks,
      headings: place?.headings,
    };
  });
}

/** In few parameters: one for each value takes long to build, to bind and to parse. */
function insertChunks(
  { id, organization_id, workspace_id }: DocumentRow,
  model: string,
  rows: ReturnType<typeof toRows>,
  vectors: Float32Array[],
) {
  return sql`
    insert into chunk (
      id, organization_id, workspace_id, document_id, index, text, model, embedding, text_start, text_end, page, page_breaks, headings
    )
    select
      id, ${organization_id}, ${workspace_id}, ${id}, index, text, ${model}, (${toRealArray(join(vectors))}::real[])[vector_start:vector_end],
      text_start, text_end, page, page_breaks, headings
    from json_to_recordset(${JSON.stringify(rows)}) as chunk (
      id text, index int, text text, vector_start int, vector_end int, text_start int, text_end int, page int, page_breaks int[], headings text[]
    )
  `;
}

function join(vectors: Float32Array[]): Float32Array {
  const joined = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const vector of vectors) {
    joined.set(vector, start);
    start += vector.length;
  }
  return joined;
}

/** Notes with what a document is indexed, and deletes what was staged from its earlier index. A document without chunks is never behind. */
async function noteIndexKind(trx: Transaction, { id }: DocumentRow, { model, dimensions, chunking }: IndexKind): Promise<void> {
  await trx.deleteFrom('staged_index').where('document_id', '=', id).execute();
  await trx.deleteFrom('document_index').where('document_id', '=', id).execute();
  await sql`
    insert into document_index (document_id, organization_id, workspace_id, indexed_at, model, dimensions, chunking)
    select id, organization_id, workspace_id, indexed_at, ${model}, ${dimensions}, ${chunking} from document
    where id = ${id} and chunk_count > 0
  `.execute(trx);
}
