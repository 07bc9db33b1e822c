import type { Db } from '../../db/connect.ts';
import type { ChunkQuery } from './candidate.ts';
import { findCandidates } from './find-candidates.ts';
import { readChunks, type ShownChunk } from './read-chunks.ts';
import { toUnitLength } from './unit-vector.ts';

export interface FoundChunk extends ShownChunk {
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
  const chunks = await readChunks(db, query.workspaceId, await findCandidates(db, query), query);
  const ranked = chunks
    .flatMap(({ score, ...chunk }) => (score === null ? [] : { ...chunk, score }))
    .sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1));
  return (query.byDocument ? firstOfEach(ranked) : ranked).slice(0, query.limit);
}

/** The first chunk of each document. */
function firstOfEach<T extends { document_id: string }>(chunks: T[]): T[] {
  const seen = new Set<string>();
  return chunks.filter(({ document_id: id }) => seen.size < seen.add(id).size);
}
