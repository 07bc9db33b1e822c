import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { toUnitLength } from './store-chunks.ts';
import { allowIndexToGoOn, type ChunkQuery, hasIndexToUse, nearestByIndex } from './vector-index.ts';

export interface FoundChunk {
  id: string;
  document_id: string;
  document_name: string;
  index: number;
  text: string;
  /** Cosine similarity: 1 identical, 0 unrelated. */
  score: number;
}

/**
 * The chunks of a workspace nearest to a query's vector, best first, among those of the same model. Exact, but for a
 * large workspace in a database with pgvector: there an index finds the candidates, and may miss one.
 */
export async function searchChunks(db: Db, { vector, ...rest }: ChunkQuery): Promise<FoundChunk[]> {
  const query = { ...rest, vector: Array.from(toUnitLength(vector)) };
  if (await hasIndexToUse(db, query)) {
    const found = await db.transaction().execute(async (trx) => {
      await allowIndexToGoOn(trx);
      return await rank(trx, query, nearestByIndex(query));
    });
    // A graph may not lead to all that it holds.
    if (found.length === query.limit) return found;
  }
  const { workspaceId, model } = query;
  return await rank(db, query, sql`select id, embedding from chunk where workspace_id = ${workspaceId} and model = ${model}`);
}

/** The best of the candidates. Vectors with another count of dimensions, which a model had before, do not compare and are left out. */
async function rank(db: Db, { vector, limit }: ChunkQuery, candidates: RawBuilder<unknown>): Promise<FoundChunk[]> {
  // They are left out last: a condition on every chunk would let Postgres expect few of them, and compare them on one core only.
  const { rows } = await sql<FoundChunk>`
    select chunk.id, chunk.document_id, document.name as document_name, chunk.index, chunk.text, nearest.score
    from (
      select id, case when cardinality(embedding) = ${vector.length} then dot_product(embedding, ${vector}::real[]) end as score
      from (${candidates}) as candidate
      order by score desc nulls last, id limit ${limit}
    ) as nearest
    join chunk on chunk.id = nearest.id
    join document on document.id = chunk.document_id
    where nearest.score is not null
    order by nearest.score desc, chunk.id
  `.execute(db);
  return rows;
}
