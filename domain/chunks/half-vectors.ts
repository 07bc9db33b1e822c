/**
 * Where the database has pgvector, each block holds the vectors of its chunks in pgvector's half precision, too, so that its operator
 * scans them. The column is added once pgvector is there, which may be long after the migrations.
 */
import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import type { Candidate, ChunkQuery } from './candidate.ts';
import { quantizedLength } from './quantize.ts';

/** A `halfvec` has no more dimensions. */
const mostDimensions = 16_000;
const blocksPerFill = 200;

/** Whether the column is there. Asks the catalog, so that it is never out of date. */
const isThere = sql<boolean>`exists (
  select from pg_attribute where attrelid = 'vector_block'::regclass and attname = 'half_vectors' and not attisdropped
)`;

/** How many chunks a block holds, without reading the vectors of which it tells. */
const count = sql`octet_length(vector_block.vectors) / (${sql.lit(quantizedLength(0))} + (vector_block.dimensions + 1) / 2)`;

/** What the column of a block holds, computed from its chunks. */
const ofChunks = sql`(
  select array_agg(chunk.embedding::halfvec order by chunk.index) from chunk
  where chunk.document_id = vector_block.document_id and chunk.index >= vector_block.first_index
    and chunk.index < vector_block.first_index + ${count}
)`;

/** Whether a search for vectors of so many dimensions can use pgvector's operator. */
export const hasHalfVectors = (dimensions: number) => sql<boolean>`(${isThere} and ${sql.lit(dimensions <= mostDimensions)})`;

/**
 * Adds the column, if need be, and fills it for the blocks that lack it. Needs pgvector, and a connection outside of a transaction.
 * Throws if the table is in use for so long that searches would have to wait behind it.
 */
export async function keepHalfVectors(db: Db): Promise<void> {
  const { rows } = await sql<{ there: boolean }>`select ${isThere} as there`.execute(db);
  if (!rows[0]?.there) await addColumn(db);
  for (let filled = blocksPerFill; filled >= blocksPerFill; ) {
    // Skipping what is locked: it is being replaced or deleted.
    const { numAffectedRows } = await sql`
      update vector_block set half_vectors = ${ofChunks}
      where ctid = any (array(
        select ctid from vector_block where half_vectors is null and dimensions <= ${sql.lit(mostDimensions)}
        limit ${sql.lit(blocksPerFill)} for update skip locked
      ))
    `.execute(db);
    filled = Number(numAffectedRows ?? 0);
  }
}

async function addColumn(db: Db): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = '2s'`.execute(trx);
    await sql`alter table vector_block add column half_vectors halfvec[]`.execute(trx);
    await sql`alter table vector_block alter column half_vectors set storage external`.execute(trx);
  });
}

/** Fills the column for a document's new blocks, if it is there. */
export async function storeHalfVectors(trx: Transaction, documentId: string): Promise<void> {
  const { rows } = await sql<{ there: boolean }>`select ${isThere} as there`.execute(trx);
  if (!rows[0]?.there) return;
  await sql`
    update vector_block set half_vectors = ${ofChunks}
    where document_id = ${documentId} and dimensions <= ${sql.lit(mostDimensions)}
  `.execute(trx);
}

/** The nearest chunks of all that are quantized, by pgvector's exact scan: twice as many as are asked for, to be ranked by their exact scores. */
export async function scanHalfVectors(db: Db, { workspaceId, model, vector, limit }: ChunkQuery): Promise<Candidate[]> {
  // Two functions that return sets take turns in a select list, and nothing is stored in between, as it is in a `from`.
  const { rows } = await sql<Candidate>`select document_id as "documentId", index from (
      select document_id, generate_series(first_index, first_index + ${count} - 1) as index, unnest(coalesce(half_vectors, ${ofChunks})) as vector
      from vector_block
      where workspace_id = ${workspaceId} and model = ${model} and dimensions = ${vector.length}
    ) as candidate
    order by vector <#> ${Array.from(vector)}::real[]::halfvec limit ${2 * limit}`.execute(db);
  return rows;
}
