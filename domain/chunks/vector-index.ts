import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Candidate, ChunkQuery } from './candidate.ts';

/** What one index holds: the vectors of one workspace that have so many dimensions. */
export interface IndexKey {
  workspaceId: string;
  dimensions: number;
}

/**
 * A workspace of no more chunks than this is scanned. An index would be hardly faster there, finds less, and makes storing a chunk many
 * times slower (docs/decisions/search.md).
 */
export const mostScanned = 50_000;

/** pgvector indexes a `halfvec` of no more dimensions. */
export const mostIndexedDimensions = 4_000;

/** pgvector has scans that go on until enough is found since this version. */
export const oldestPgvector = [0, 8] as const;

/** How widely the graph is searched: a wider search finds more of the nearest, and takes longer. 40 is pgvector's default, 1,000 the most. */
const searchWidth = 800;

export const indexPrefix = 'chunk_embedding_';

/** At most 57 characters; Postgres keeps 63. */
export function indexName({ workspaceId, dimensions }: IndexKey): string {
  return `${indexPrefix}${dimensions}_${workspaceId}`;
}

/** Reads a name of {@link indexName}. */
export function parseIndexName(name: string): IndexKey {
  const [dimensions = '', ...workspaceId] = name.slice(indexPrefix.length).split('_');
  return { workspaceId: workspaceId.join('_'), dimensions: Number(dimensions) };
}

/**
 * What an index is on: a query uses it only when it says the same, with the same literals. Vectors have unit length, so that
 * their inner product is their cosine; half precision takes half of the space, and only candidates are found by it.
 */
export function indexed({ workspaceId, dimensions }: IndexKey) {
  const type = sql`halfvec(${sql.lit(dimensions)})`;
  return {
    type,
    expression: sql`(embedding::${type})`,
    // The cast would refuse the vectors of a model that had another count of dimensions, and with them their chunks.
    condition: sql`workspace_id = ${sql.lit(workspaceId)} and cardinality(embedding) = ${sql.lit(dimensions)}`,
  };
}

/** How many chunks are read for each document that is asked for: several may be of one. */
const chunksForDocument = 8;

/**
 * The nearest chunks as the index knows them: twice as many as are asked for, to be ranked by their exact scores. The scan of the index
 * goes on until it has found enough chunks of the model and the documents that are asked for.
 */
export async function nearestByIndex(db: Db, query: ChunkQuery): Promise<Candidate[]> {
  const { workspaceId, model, vector, limit, scope, byDocument } = query;
  const { type, expression, condition } = indexed({ workspaceId, dimensions: vector.length });
  const count = byDocument ? chunksForDocument * limit : 2 * limit;
  const search = async (trx: Db) => {
    await sql`select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', ${String(searchWidth)}, true)`.execute(
      trx,
    );
    const { rows } = await sql<Candidate>`
      select document_id as "documentId", index from chunk where ${condition} and model = ${model}
        ${scope ? sql`and ${scope.includes(sql`chunk.document_id`)}` : sql``}
      order by ${expression} <#> ${Array.from(vector)}::real[]::${type} limit ${count}
    `.execute(trx);
    return rows;
  };
  return await (db.isTransaction ? search(db) : db.transaction().execute(search));
}
