import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { toRealArray } from '../../db/real-array.ts';
import type { DocumentRow } from '../documents/document.ts';
import { newId } from '../ids.ts';
import { storePostings } from '../lexical/store-postings.ts';
import { lockForEffects } from '../locks.ts';
import type { IndexKind } from '../reindex/index-kind.ts';
import type { ChunkPlace } from './place-chunks.ts';
import { quantize } from './quantize.ts';
import { firstChunking } from './split-text.ts';
import { toUnitLength } from './unit-vector.ts';
import { type QuantizedChunk, storeVectorBlocks } from './vector-blocks.ts';

export interface EmbeddedChunk {
  text: string;
  embedding: ArrayLike<number>;
  place?: ChunkPlace | undefined;
}

const rowsPerInsert = 50;

/**
 * Replaces a document's chunks by those of a new index, in one transaction with the job's result, so that a search sees the
 * old ones or the new ones. `kind` says how the text was cut, and how many dimensions the model has if there are no chunks. Throws
 * DocumentGone if the document was deleted meanwhile.
 */
export async function storeChunks(
  trx: Transaction,
  document: DocumentRow,
  model: string,
  chunks: EmbeddedChunk[],
  kind: Omit<IndexKind, 'model'> = { dimensions: chunks[0]?.embedding.length ?? 0, chunking: firstChunking },
): Promise<void> {
  await lockForEffects(trx, document);
  await trx
    .updateTable('document')
    .set({ indexed_at: sql`clock_timestamp()`, chunk_count: chunks.length, updated_at: sql`clock_timestamp()` })
    .where('id', '=', document.id)
    .execute();
  await trx.deleteFrom('chunk').where('document_id', '=', document.id).execute();
  const quantized: QuantizedChunk[] = [];
  for (let start = 0; start < chunks.length; start += rowsPerInsert) {
    const rows = chunks.slice(start, start + rowsPerInsert).map((chunk, offset) => {
      const vector = toUnitLength(chunk.embedding);
      quantized.push({ model, dimensions: vector.length, vector: quantize(vector) });
      return {
        id: newId(),
        organization_id: document.organization_id,
        workspace_id: document.workspace_id,
        document_id: document.id,
        index: start + offset,
        text: chunk.text,
        model,
        embedding: toRealArray(vector),
        text_start: chunk.place?.start ?? null,
        text_end: chunk.place?.end ?? null,
        page: chunk.place?.page ?? null,
        page_breaks: chunk.place?.pageBreaks ?? null,
        headings: chunk.place?.headings ?? null,
      };
    });
    await trx.insertInto('chunk').values(rows).execute();
  }
  await storeVectorBlocks(trx, document, quantized);
  await storePostings(
    trx,
    document,
    chunks.map(({ text }) => text),
  );
  await noteIndexKind(trx, document, { ...kind, model });
}

/** Notes with what a document is indexed. What was staged for its workspace is of an earlier index. A document without chunks is never behind. */
async function noteIndexKind(trx: Transaction, { id }: DocumentRow, { model, dimensions, chunking }: IndexKind): Promise<void> {
  await trx.deleteFrom('staged_index').where('document_id', '=', id).execute();
  await trx.deleteFrom('document_index').where('document_id', '=', id).execute();
  await sql`
    insert into document_index (document_id, organization_id, workspace_id, indexed_at, model, dimensions, chunking)
    select id, organization_id, workspace_id, indexed_at, ${model}, ${dimensions}, ${chunking} from document
    where id = ${id} and chunk_count > 0
  `.execute(trx);
}
