import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { toRealArray } from '../../db/real-array.ts';
import type { DocumentRow } from '../documents/document.ts';
import { newId } from '../ids.ts';
import { lockForEffects } from '../locks.ts';

export interface EmbeddedChunk {
  text: string;
  embedding: ArrayLike<number>;
}

const rowsPerInsert = 50;

/**
 * Replaces a document's chunks by those of a new index, in one transaction with the job's result, so that a search sees the
 * old ones or the new ones. Throws DocumentGone where the document was deleted meanwhile.
 */
export async function storeChunks(trx: Transaction, document: DocumentRow, model: string, chunks: EmbeddedChunk[]): Promise<void> {
  await lockForEffects(trx, document);
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

/** Scales a vector to length 1, in what a `real` of Postgres holds, so that a dot product is a cosine similarity; zeros stay as they are. */
export function toUnitLength(vector: ArrayLike<number>): Float32Array {
  const length = lengthOf(vector) || 1;
  const scaled = new Float32Array(vector.length);
  for (let index = 0; index < vector.length; index += 1) scaled[index] = (vector[index] ?? 0) / length;
  return scaled;
}

/** Relative to the largest number, whose square may be more than a number holds. */
function lengthOf(vector: ArrayLike<number>): number {
  let largest = 0;
  for (let index = 0; index < vector.length; index += 1) largest = Math.max(largest, Math.abs(vector[index] ?? 0));
  if (largest === 0) return 0;
  let squares = 0;
  for (let index = 0; index < vector.length; index += 1) squares += ((vector[index] ?? 0) / largest) ** 2;
  return largest * Math.sqrt(squares);
}
