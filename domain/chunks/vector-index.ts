import { type RawBuilder, sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';

/** Whose chunks are searched, and with what. */
export interface ChunkQuery {
  workspaceId: string;
  model: string;
  vector: number[];
  limit: number;
}

/** What one index holds: the vectors of one workspace that have so many dimensions. */
export interface IndexKey {
  workspaceId: string;
  dimensions: number;
}

/** A workspace of no more chunks of a model than this is searched exactly, which is fast there, and misses nothing. */
export const mostSearchedExactly = 5_000;

/** pgvector indexes a `halfvec` of no more dimensions. */
export const mostDimensions = 4_000;

/** pgvector has scans that go on until enough is found since this version. */
export const oldestPgvector = [0, 8] as const;

/** How widely the graph is searched: a wider search finds more of the nearest, and takes longer. 40 is pgvector's default. */
const searchWidth = 400;

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

/** Whether a workspace is too large to be searched exactly, and has an index. Asks the catalog, so that it is never out of date. */
export async function hasIndexToUse(db: Db, { workspaceId, model, vector }: ChunkQuery): Promise<boolean> {
  const name = indexName({ workspaceId, dimensions: vector.length });
  // A `case` keeps its order: where there is no index, no chunk is counted.
  const { rows } = await sql<{ use: boolean }>`select case
      when exists (select from pg_index where indexrelid = to_regclass(${`"${name}"`}) and indisvalid)
      then exists (select from chunk where workspace_id = ${workspaceId} and model = ${model} offset ${mostSearchedExactly})
      else false
    end as use`.execute(db);
  return rows[0]?.use === true;
}

/** The nearest chunks as the index knows them: twice as many as are asked for, to be ranked by their exact scores. */
export function nearestByIndex({ workspaceId, model, vector, limit }: ChunkQuery): RawBuilder<unknown> {
  const { type, expression, condition } = indexed({ workspaceId, dimensions: vector.length });
  return sql`select id, embedding from chunk where ${condition} and model = ${model}
    order by ${expression} <#> ${vector}::real[]::${type} limit ${2 * limit}`;
}

/** Lets this transaction's scans of an index go on until they have found enough chunks of the model that is asked for. */
export async function allowIndexToGoOn(trx: Transaction): Promise<void> {
  await sql`select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', ${String(searchWidth)}, true)`.execute(
    trx,
  );
}
