import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { readRealArray } from '../../db/real-array.ts';
import { inWorkspace } from '../documents/document.ts';
import type { Candidate, ChunkQuery } from './candidate.ts';
import { findCandidates } from './find-candidates.ts';
import { dotProduct, toUnitLength } from './unit-vector.ts';

const isOfText = sql`document.extracted_at <= document.indexed_at`;

/** What a search shows of a chunk, besides scores. */
export const shownColumns = sql`chunk.id, chunk.document_id, document.name as document_name, chunk.index, chunk.text,
  case when ${isOfText} then text_start end as text_start, case when ${isOfText} then text_end end as text_end, page, page_breaks, headings`;

export interface FoundChunk {
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
  /** Cosine similarity: 1 identical, 0 unrelated. */
  score: number;
}

/**
 * The chunks of a workspace nearest to a query's vector, of any length, best first, among those of the same model and count of
 * dimensions; or the nearest chunk of each of the nearest documents. The scores are exact. In a workspace of more than about a hundred
 * chunks, one of the nearest may be missed.
 */
export async function searchChunks(db: Db, { vector, ...rest }: Omit<ChunkQuery, 'vector'> & { vector: number[] }): Promise<FoundChunk[]> {
  const query = { ...rest, vector: toUnitLength(vector) };
  if (query.scope?.named?.length === 0) return [];
  const candidates = await findCandidates(db, query);
  return candidates.length === 0 ? [] : await rank(db, query, candidates);
}

/** The best of the candidates. They are read again with their tenant: a document may have been indexed again, or deleted, meanwhile. */
async function rank(db: Db, { workspaceId, model, vector, limit, byDocument }: ChunkQuery, candidates: Candidate[]): Promise<FoundChunk[]> {
  const [documentIds, indexes] = [candidates.map(({ documentId }) => documentId), candidates.map(({ index }) => index)];
  // As bytes: the text of so many numbers would take longer to read than all else.
  const { rows } = await sql<Omit<FoundChunk, 'score'> & { embedding: Uint8Array }>`select
      ${shownColumns}, array_send(chunk.embedding) as embedding
    from unnest(${documentIds}::text[], ${indexes}::int[]) as candidate (document_id, index)
    join chunk on chunk.document_id = candidate.document_id and chunk.index = candidate.index
    join document on document.id = chunk.document_id
    where ${inWorkspace} and chunk.workspace_id = ${workspaceId} and chunk.model = ${model} and cardinality(chunk.embedding) = ${vector.length}
  `.execute(db);
  const ranked = rows
    .map(({ embedding, ...chunk }) => ({ ...chunk, score: dotProduct(readRealArray(embedding), vector) }))
    .sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1));
  return (byDocument ? firstOfEach(ranked) : ranked).slice(0, limit);
}

/** The first chunk of each document. */
function firstOfEach<T extends { document_id: string }>(chunks: T[]): T[] {
  const seen = new Set<string>();
  return chunks.filter(({ document_id: id }) => seen.size < seen.add(id).size);
}
