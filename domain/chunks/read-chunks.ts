import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { readRealArray } from '../../db/real-array.ts';
import { inWorkspace } from '../documents/document.ts';
import type { Candidate } from './candidate.ts';
import { dotProduct } from './unit-vector.ts';

/** A chunk as a search shows it, without what ranked it. */
export interface ShownChunk {
  id: string;
  document_id: string;
  document_name: string;
  index: number;
  text: string;
  /** Where it stands, as `ChunkPlace` has it; null if that is not known, positions also if the text was extracted again since. */
  text_start: number | null;
  text_end: number | null;
  page: number | null;
  page_breaks: number[] | null;
  headings: string[] | null;
  /** The number of its document's postings; null if it has none yet. */
  postings_number: number | null;
}

const isOfText = sql`document.extracted_at <= document.indexed_at`;
const shownColumns = sql`chunk.id, chunk.document_id, document.name as document_name, chunk.index, chunk.text,
  case when ${isOfText} then text_start end as text_start, case when ${isOfText} then text_end end as text_end, page, page_breaks, headings,
  lexical_document.number as postings_number`;

/** What a chunk's vector is compared with. */
export interface Comparison {
  model: string;
  /** Of unit length. */
  vector: Float32Array;
}

/**
 * Reads candidates with their tenant: a document may have been indexed again, or deleted, meanwhile. In no order. Scores are exact cosines;
 * null without a comparison, and for the vectors of another model or count of dimensions.
 */
export async function readChunks(
  db: Db,
  workspaceId: string,
  candidates: Candidate[],
  comparison?: Comparison,
): Promise<Array<ShownChunk & { score: number | null }>> {
  if (candidates.length === 0) return [];
  const [documentIds, indexes] = [candidates.map(({ documentId }) => documentId), candidates.map(({ index }) => index)];
  // As bytes: the text of so many numbers would take longer to read than all else.
  const compared = comparison
    ? sql`case when chunk.model = ${comparison.model} and cardinality(chunk.embedding) = ${comparison.vector.length} then array_send(chunk.embedding) end`
    : sql`null::bytea`;
  const { rows } = await sql<ShownChunk & { embedding: Uint8Array | null }>`
    select ${shownColumns}, ${compared} as embedding
    from unnest(${documentIds}::text[], ${indexes}::int[]) as candidate (document_id, index)
    join chunk on chunk.document_id = candidate.document_id and chunk.index = candidate.index
    join document on document.id = chunk.document_id
    left join lexical_document on lexical_document.document_id = chunk.document_id
    where ${inWorkspace} and chunk.workspace_id = ${workspaceId}
  `.execute(db);
  return rows.map(({ embedding, ...chunk }) => ({
    ...chunk,
    score: embedding && comparison ? dotProduct(readRealArray(embedding), comparison.vector) : null,
  }));
}

/** The texts of a document's chunks, in their order. */
export async function readChunkTexts(db: Db, documentId: string): Promise<string[]> {
  const rows = await db.selectFrom('chunk').select('text').where('document_id', '=', documentId).orderBy('index').execute();
  return rows.map(({ text }) => text);
}
