/**
 * Vectors for databases with pgvector: `chunk_vector` holds one in half precision for each chunk. `db/triggers` creates it in a new database,
 * or the hourly workflow if pgvector was installed later. A large workspace has an index of its own (docs/search.md, the index).
 */
import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { type ChunkKey, candidatesFor, type VectorQuery } from './vector-query.ts';

/** The maximum number of dimensions of pgvector's `halfvec`. */
const maxDimensions = 16_000;

/** A workspace with at most this many chunks is scanned: an index would find less, and make storing a chunk many times slower. */
export const maxScanned = 50_000;

/** How widely the graph is searched; 40 is pgvector's default, 1,000 its maximum. */
const searchWidth = 800;
/** How many chunks of an index are read for each document to find, since several may belong to one. */
const chunksForDocument = 8;

/** The key of an index, which holds the vectors of one workspace and number of dimensions. */
export interface IndexKey {
  workspaceId: string;
  dimensions: number;
}

export const indexPrefix = 'chunk_vector_of_';

/** The name of an index: at most 57 characters, of the 63 that Postgres keeps. */
export function indexName({ workspaceId, dimensions }: IndexKey): string {
  return `${indexPrefix}${dimensions}_${workspaceId}`;
}

/** The expression and condition of an index. Postgres uses the index only for a query with the same ones, with the same literals. */
export function indexed({ workspaceId, dimensions }: IndexKey) {
  const type = sql`halfvec(${sql.lit(dimensions)})`;
  return {
    type,
    expression: sql`(vector::${type})`,
    condition: sql`workspace_id = ${sql.lit(workspaceId)} and dimensions = ${sql.lit(dimensions)}`,
  };
}

/** Reads the catalog each time, so that the result is never out of date. */
export async function hasPgvector(trx: Transaction): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass('chunk_vector') is not null as there`.execute(trx);
  return rows[0]?.there ?? false;
}

/** Stores the vectors of a document's chunks. */
export async function storeChunkVectors(trx: Transaction, documentId: string): Promise<void> {
  await sql`
    insert into chunk_vector (document_id, index, workspace_id, model, dimensions, vector)
    select document_id, index, workspace_id, model, cardinality(embedding), embedding::halfvec from chunk
    where document_id = ${documentId} and cardinality(embedding) between 1 and ${sql.lit(maxDimensions)}
  `.execute(trx);
}

/** Candidates for the nearest chunks, by a scan of all; by document, the nearest chunk of each. */
export async function nearestByPgvector(trx: Transaction, query: VectorQuery): Promise<ChunkKey[]> {
  const { workspaceId, model, vector, limit, scope, byDocument } = query;
  const compared = sql`
    select document_id, index, vector <#> ${Array.from(vector)}::real[]::halfvec as distance from chunk_vector
    where workspace_id = ${workspaceId} and model = ${model} and dimensions = ${vector.length}
      ${scope ? sql`and ${scope.includes(sql`chunk_vector.document_id`)}` : sql``}`;
  const nearestOfEach = sql`select distinct on (document_id) * from (${compared}) as of_each order by document_id, distance, index`;
  const { rows } = await sql<ChunkKey>`
    select document_id as "documentId", index from (${byDocument ? nearestOfEach : compared}) as compared
    order by distance limit ${candidatesFor(limit)}
  `.execute(trx);
  return rows;
}

/**
 * Candidates from the workspace's index, approximately. Returns undefined without an index, for a search of few documents, or if the graph
 * finds too few: chunks of another model or of other documents may fill it.
 */
export async function nearestByIndex(trx: Transaction, query: VectorQuery): Promise<ChunkKey[] | undefined> {
  const { workspaceId, model, vector, limit, scope, byDocument } = query;
  const inScope = scope?.named?.reduce((sum, { chunks }) => sum + chunks, 0) ?? Number.POSITIVE_INFINITY;
  const key = { workspaceId, dimensions: vector.length };
  if (inScope <= maxScanned || !(await hasIndex(trx, key))) return undefined;
  await sql`select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', ${String(searchWidth)}, true)`.execute(
    trx,
  );
  const { type, expression, condition } = indexed(key);
  const { rows } = await sql<ChunkKey>`
    select document_id as "documentId", index from chunk_vector where ${condition} and model = ${model}
      ${scope ? sql`and ${scope.includes(sql`chunk_vector.document_id`)}` : sql``}
    order by ${expression} <#> ${Array.from(vector)}::real[]::${type}
    limit ${byDocument ? chunksForDocument * limit : candidatesFor(limit)}
  `.execute(trx);
  const found = byDocument ? new Set(rows.map(({ documentId }) => documentId)).size : rows.length;
  return found >= limit ? rows : undefined;
}

async function hasIndex(trx: Transaction, key: IndexKey): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    select exists (select from pg_index where indexrelid = to_regclass(${`"${indexName(key)}"`}) and indisvalid) as there`.execute(trx);
  return rows[0]?.there ?? false;
}
