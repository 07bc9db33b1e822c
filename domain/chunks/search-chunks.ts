import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { toUnitLength } from './store-chunks.ts';

export interface FoundChunk {
  id: string;
  document_id: string;
  document_name: string;
  index: number;
  text: string;
  /** Cosine similarity: 1 identical, 0 unrelated. */
  score: number;
}

/** The chunks of a workspace nearest to a query's vector, best first, among those of the same model (spec §4). */
export async function searchChunks(
  db: Db,
  { workspaceId, model, vector, limit }: { workspaceId: string; model: string; vector: number[]; limit: number },
): Promise<FoundChunk[]> {
  const query = sql`${toUnitLength(vector)}::real[]`;
  const { rows } = await sql<FoundChunk>`
    select chunk.id, chunk.document_id, document.name as document_name, chunk.index, chunk.text, nearest.score
    from (
      select id, coalesce(dot_product(embedding, ${query}), 0) as score
      from chunk where workspace_id = ${workspaceId} and model = ${model}
      order by score desc, id limit ${limit}
    ) as nearest
    join chunk on chunk.id = nearest.id
    join document on document.id = chunk.document_id
    order by nearest.score desc, chunk.id
  `.execute(db);
  return rows;
}
