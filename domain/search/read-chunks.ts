import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { readRealArray } from '../../db/real-array.ts';
import { inWorkspace } from '../documents/document.ts';
import { dotProduct } from './unit-vector.ts';
import type { ChunkKey } from './vector-query.ts';

/** A chunk as a search returns it, without its scores. */
export interface ShownChunk {
  id: string;
  document_id: string;
  document_name: string;
  index: number;
  text: string;
  /** Its position, as in `ChunkPosition`; null if unknown, and if the text was extracted again since. */
  text_start: number | null;
  text_end: number | null;
  page: number | null;
  page_breaks: number[] | null;
  headings: string[] | null;
}

/** The vector with which chunks are compared, and its model. */
interface Comparison {
  model: string;
  /** It has unit length. */
  vector: Float32Array;
}

const isOfText = sql`document.extracted_at <= document.indexed_at`;
const shownColumns = sql`chunk.id, chunk.document_id, document.name as document_name, chunk.index, chunk.text,
  case when ${isOfText} then text_start end as text_start, case when ${isOfText} then text_end end as text_end, page, page_breaks, headings`;

/**
 * Reads chunks of a workspace, in no particular order. Scores are exact cosines; null without a comparison, and for vectors of another
 * model or number of dimensions.
 */
export async function readChunks(
  trx: Transaction,
  { workspaceId, chunks, comparison }: { workspaceId: string; chunks: ChunkKey[]; comparison?: Comparison | undefined },
): Promise<Array<ShownChunk & { score: number | null }>> {
  if (chunks.length === 0) return [];
  // As bytes, since reading the numbers as text would take longer than everything else.
  const compared = comparison
    ? sql`case when chunk.model = ${comparison.model} and cardinality(chunk.embedding) = ${comparison.vector.length} then array_send(chunk.embedding) end`
    : sql`null::bytea`;
  const { rows } = await sql<ShownChunk & { embedding: Uint8Array | null }>`
    select ${shownColumns}, ${compared} as embedding
    from (
      select distinct * from unnest(${chunks.map(({ documentId }) => documentId)}::text[], ${chunks.map(({ index }) => index)}::int[])
    ) as wanted (document_id, index)
    join chunk on chunk.document_id = wanted.document_id and chunk.index = wanted.index
    join document on document.id = chunk.document_id
    where ${inWorkspace} and chunk.workspace_id = ${workspaceId}
  `.execute(trx);
  return rows.map(({ embedding, ...chunk }) => ({
    ...chunk,
    score: embedding && comparison ? dotProduct(comparison.vector, readRealArray(embedding)) : null,
  }));
}
