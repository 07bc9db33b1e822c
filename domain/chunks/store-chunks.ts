import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { toRealArray } from '../../db/real-array.ts';
import type { DocumentRow } from '../documents/get-document.ts';
import { lockDocument } from '../documents/lock-document.ts';
import { newId } from '../ids.ts';

export interface EmbeddedChunk {
  text: string;
  embedding: number[];
}

const rowsPerInsert = 200;

/**
 * Replaces a document's chunks by those of a new index, in one transaction with the job's result, so that a search sees the
 * old ones or the new ones. Throws DocumentGone where the document was deleted meanwhile.
 */
export async function storeChunks(trx: Transaction, document: DocumentRow, model: string, chunks: EmbeddedChunk[]): Promise<void> {
  await lockDocument(trx, document);
  await trx
    .updateTable('document')
    .set({ indexed_at: sql`clock_timestamp()`, chunk_count: chunks.length, updated_at: sql`clock_timestamp()` })
    .where('id', '=', document.id)
    .execute();
  await trx.deleteFrom('chunk').where('document_id', '=', document.id).execute();
  for (let start = 0; start < chunks.length; start += rowsPerInsert) {
    const rows = chunks.slice(start, start + rowsPerInsert).map((chunk, offset) => ({
      id: newId(),
      organization_id: document.organization_id,
      workspace_id: document.workspace_id,
      document_id: document.id,
      index: start + offset,
      text: chunk.text,
      model,
      embedding: toRealArray(toUnitLength(chunk.embedding)),
    }));
    await trx.insertInto('chunk').values(rows).execute();
  }
}

/**
 * Scales a vector to length 1, so that a dot product is a cosine similarity; a zero vector stays as it is. Rounded to what a
 * `real` holds: Postgres refuses a number that is too small for it.
 */
export function toUnitLength(vector: number[]): number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => Math.fround(value / length));
}
