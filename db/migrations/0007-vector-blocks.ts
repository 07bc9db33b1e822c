import { type Kysely, sql } from 'kysely';

/**
 * The quantized vectors of chunks, many to a row, which a search scans instead of the chunks. `quantized_at` is a document's
 * `indexed_at` once its blocks are stored: a document without them, or one that an older version has indexed again, is found by the
 * difference and given its blocks later, outside of this migration. Adding a column that is null writes no row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table document add column quantized_at timestamptz(3)`,
  `create index document_unquantized on document (workspace_id)
     where chunk_count > 0 and quantized_at is distinct from indexed_at`,

  // The key is the order in which a search reads: one range for each workspace, model and count of dimensions.
  `create table vector_block (
    workspace_id text not null,
    model text not null,
    dimensions integer not null,
    document_id text not null,
    first_index integer not null,
    organization_id text not null,
    vectors text not null,
    primary key (workspace_id, model, dimensions, document_id, first_index),
    constraint vector_block_document_fkey foreign key (document_id, workspace_id, organization_id)
      references document (id, workspace_id, organization_id) on delete cascade
  )`,
  `create index vector_block_document on vector_block (document_id)`,
  // They do not compress; trying costs more than storing them.
  `alter table vector_block alter column vectors set storage external`,
];
