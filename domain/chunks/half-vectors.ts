/**
 * If the database has pgvector, a table beside the blocks holds the vectors of their chunks in pgvector's half precision, so that its
 * operator scans them. The table is made once pgvector is there, which may be long after the migrations. It is a table of its own so that
 * a backup can be restored without it, into a database that has no pgvector.
 */
import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { type Candidate, type ChunkQuery, candidatesOfDocument } from './candidate.ts';
import { quantizedLength } from './quantize.ts';

/** A `halfvec` has no more dimensions. */
const mostHalfDimensions = 16_000;
const blocksPerFill = 200;

const key = sql`workspace_id, model, dimensions, document_id, first_index`;

/** Whether the table is there. Asks the catalog, so that it is never out of date. */
const isThere = sql<boolean>`(to_regclass('vector_block_half') is not null)`;

/** How many chunks a block holds, without reading the vectors of which it tells. */
const count = sql`octet_length(vector_block.vectors) / (${sql.lit(quantizedLength(0))} + (vector_block.dimensions + 1) / 2)`;

/** The vectors of a block, computed from its chunks. */
const ofChunks = sql`(
  select array_agg(chunk.embedding::halfvec order by chunk.index) from chunk
  where chunk.document_id = vector_block.document_id and chunk.index >= vector_block.first_index
    and chunk.index < vector_block.first_index + ${count}
)`;

/** Whether a search for vectors of so many dimensions can use pgvector's operator. */
export const hasHalfVectors = (dimensions: number) => sql<boolean>`(${isThere} and ${sql.lit(dimensions <= mostHalfDimensions)})`;

/**
 * Makes the table, if need be, and fills it for the blocks that lack it. Needs pgvector, and a connection outside of a transaction.
 * Throws if the blocks are in use for so long that writes would have to wait behind it.
 */
export async function keepHalfVectors(db: Db): Promise<void> {
  const { rows } = await sql<{ there: boolean }>`select ${isThere} as there`.execute(db);
  if (!rows[0]?.there) await makeTable(db);
  for (let filled = blocksPerFill; filled >= blocksPerFill; ) {
    // Skipping what is locked: it is being replaced or deleted.
    const { numAffectedRows } = await sql`
      insert into vector_block_half (${key}, half_vectors)
      select ${key}, ${ofChunks} from vector_block
      where dimensions <= ${sql.lit(mostHalfDimensions)} and not exists (
        select from vector_block_half as half
        where (half.workspace_id, half.model, half.dimensions, half.document_id, half.first_index)
          = (vector_block.workspace_id, vector_block.model, vector_block.dimensions, vector_block.document_id, vector_block.first_index)
      )
      limit ${sql.lit(blocksPerFill)} for key share skip locked
      on conflict do nothing
    `.execute(db);
    filled = Number(numAffectedRows ?? 0);
  }
}

async function makeTable(db: Db): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = '2s'`.execute(trx);
    await sql`
      create table vector_block_half (
        workspace_id text not null,
        model text not null,
        dimensions integer not null,
        document_id text not null,
        first_index integer not null,
        half_vectors halfvec[],
        primary key (${key}),
        foreign key (${key}) references vector_block on delete cascade
      )
    `.execute(trx);
    await sql`alter table vector_block_half alter column half_vectors set storage external`.execute(trx);
  });
}

/** Fills the table for a document's new blocks, if it is there. */
export async function storeHalfVectors(trx: Transaction, documentId: string): Promise<void> {
  const { rows } = await sql<{ there: boolean }>`select ${isThere} as there`.execute(trx);
  if (!rows[0]?.there) return;
  await sql`
    insert into vector_block_half (${key}, half_vectors)
    select ${key}, ${ofChunks} from vector_block
    where document_id = ${documentId} and dimensions <= ${sql.lit(mostHalfDimensions)}
  `.execute(trx);
}

/**
 * The nearest chunks of all that are quantized, by pgvector's exact scan: twice as many as are asked for, to be ranked by their exact
 * scores; or those of as many documents.
 */
export async function scanHalfVectors(db: Db, query: ChunkQuery): Promise<Candidate[]> {
  if (query.byDocument) return await scanDocuments(db, query);
  const { rows } = await sql<Candidate>`select document_id as "documentId", index from (${selectVectors(query)}) as candidate
    order by ${distanceTo(query)} limit ${2 * query.limit}`.execute(db);
  return rows;
}

/** First the documents by their nearest chunk, then the chunks of these: sorting all of them would take longer than all else. */
async function scanDocuments(db: Db, query: ChunkQuery): Promise<Candidate[]> {
  const { rows: nearest } = await sql<{ id: string }>`select document_id as id from (${selectVectors(query)}) as candidate
    group by document_id order by min(${distanceTo(query)}) limit ${2 * query.limit}`.execute(db);
  const ids = nearest.map(({ id }) => id);
  const { rows } = await sql<Candidate>`select document_id as "documentId", index from (
      select document_id, index, row_number() over (partition by document_id order by ${distanceTo(query)}) as place
      from (${selectVectors(query, sql`vector_block.document_id = any(${ids}::text[])`)}) as candidate
    ) as ranked
    where place <= ${sql.lit(candidatesOfDocument)}`.execute(db);
  return rows;
}

function selectVectors({ workspaceId, model, vector, scope }: ChunkQuery, condition = scope?.includes(sql`vector_block.document_id`)) {
  // Two functions that return sets take turns in a select list, and nothing is stored in between, as it is in a `from`.
  return sql`
      select document_id, generate_series(first_index, first_index + ${count} - 1) as index, unnest(coalesce(half_vectors, ${ofChunks})) as vector
      from vector_block left join vector_block_half using (${key})
      where workspace_id = ${workspaceId} and model = ${model} and dimensions = ${vector.length} ${condition ? sql`and ${condition}` : sql``}`;
}

function distanceTo({ vector }: ChunkQuery) {
  return sql`vector <#> ${Array.from(vector)}::real[]::halfvec`;
}
