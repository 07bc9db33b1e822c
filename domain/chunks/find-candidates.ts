import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { addFact, type SearchPath } from '../../db/facts.ts';
import type { Candidate, ChunkQuery } from './candidate.ts';
import { hasHalfVectors, scanHalfVectors } from './half-vectors.ts';
import { scanVectorBlocks } from './vector-blocks.ts';
import { indexName, mostScanned, nearestByIndex } from './vector-index.ts';

/** Besides twice as many as are asked for: quantized vectors put them in a slightly different order. */
const spareCandidates = 60;

/**
 * Chunks among which the nearest to a query are, all of them of its workspace, model and count of dimensions. There are four ways,
 * and no other file chooses between them. In a database with pgvector: a vector index in a large workspace, else its exact scan. Without
 * pgvector: a scan of quantized vectors. And exact scores for documents that have no blocks of vectors yet.
 */
export async function findCandidates(db: Db, query: ChunkQuery): Promise<Candidate[]> {
  const startedAt = performance.now();
  const told = (path: SearchPath) => addFact(db, { what: 'search scanned', path, seconds: (performance.now() - startedAt) / 1_000 });
  const ways = await findWays(db, query);
  if (ways.index && isWide(query)) {
    const found = await nearestByIndex(db, query);
    // A graph may not lead to all that it holds, and another model or other documents may hold most of it.
    if (countFound(query, found) >= query.limit) {
      told('index');
      return found;
    }
  }
  const scanned = ways.halfVectors
    ? await scanHalfVectors(db, query)
    : await scanVectorBlocks(db, query, 2 * query.limit + spareCandidates);
  told(ways.halfVectors ? 'exact' : 'quantized');
  if (!ways.unquantized) return scanned;
  // Blocks of an earlier index may have led to the same chunk.
  const unquantized = await nearestUnquantized(db, query);
  const isNew = ({ documentId, index }: Candidate) =>
    !unquantized.some((other) => other.documentId === documentId && other.index === index);
  return [...scanned.filter(isNew), ...unquantized];
}

/** Whether so many chunks are searched that an index is worth while: it would pass by most of those near the query to find a few. */
function isWide({ scope }: ChunkQuery): boolean {
  return scope?.named === undefined || scope.named.reduce((sum, { chunks }) => sum + chunks, 0) > mostScanned;
}

function countFound({ byDocument }: ChunkQuery, found: Candidate[]): number {
  return byDocument ? new Set(found.map(({ documentId }) => documentId)).size : found.length;
}

interface Ways {
  index: boolean;
  halfVectors: boolean;
  unquantized: boolean;
}

/** Asks the catalog, so that it is never out of date. */
async function findWays(db: Db, { workspaceId, vector }: ChunkQuery): Promise<Ways> {
  const name = indexName({ workspaceId, dimensions: vector.length });
  const { rows } = await sql<Ways>`select
    exists (select from pg_index where indexrelid = to_regclass(${`"${name}"`}) and indisvalid) as index,
    ${hasHalfVectors(vector.length)} as "halfVectors",
    exists (
      select from document
      where workspace_id = ${workspaceId} and chunk_count > 0 and quantized_at is distinct from indexed_at
    ) as unquantized`.execute(db);
  return rows[0] ?? { index: false, halfVectors: false, unquantized: false };
}

/** The nearest chunks of documents that have no blocks, or only those of an earlier index; or the nearest one of each. */
async function nearestUnquantized(db: Db, { workspaceId, model, vector, limit, scope, byDocument }: ChunkQuery): Promise<Candidate[]> {
  // A `case` keeps its order: vectors with another count of dimensions do not compare.
  const scored = sql`
      select chunk.document_id as "documentId", chunk.index, chunk.id,
        case when cardinality(embedding) = ${vector.length} then dot_product(embedding, ${Array.from(vector)}::real[]) end as score
      from document join chunk on chunk.document_id = document.id
      where document.workspace_id = ${workspaceId} and chunk_count > 0 and quantized_at is distinct from indexed_at
        and chunk.workspace_id = ${workspaceId} and chunk.model = ${model} ${scope ? sql`and ${scope.includes(sql`document.id`)}` : sql``}`;
  const ofEach = sql`select distinct on ("documentId") * from (${scored}) as each where score is not null order by "documentId", score desc, id`;
  const { rows } = await sql<Candidate>`
    select "documentId", index from (${byDocument ? ofEach : scored}) as scored
    where score is not null
    order by score desc, id limit ${limit}
  `.execute(db);
  return rows;
}
