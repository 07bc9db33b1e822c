import { type Kysely, sql } from 'kysely';

/**
 * What re-embedding needs: with what each document is indexed, with what a workspace is searched, and the new chunks of documents until all
 * of their workspace are complete. What was indexed before has no row and is given one later, outside of this migration.
 * Nothing here reads or changes a table that is there.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const ofDocument = (table: string) => `constraint ${table}_document_fkey foreign key (document_id, workspace_id, organization_id)
      references document (id, workspace_id, organization_id) on delete cascade`;

const statements = [
  `create table document_index (
    document_id text primary key,
    organization_id text not null,
    workspace_id text not null,
    indexed_at timestamptz(3) not null,
    model text not null,
    dimensions integer not null,
    chunking text not null,
    ${ofDocument('document_index')}
  )`,
  // Finds the next workspace that is behind without the table, and leads to the documents of one in their order.
  `create index document_index_kind on document_index (workspace_id, document_id) include (model, dimensions, chunking)`,

  `create table workspace_index (
    workspace_id text primary key references workspace (id) on delete cascade,
    model text not null,
    dimensions integer not null,
    chunking text not null,
    switched_at timestamptz(3)
  )`,

  `create table staged_index (
    document_id text primary key,
    organization_id text not null,
    workspace_id text not null,
    indexed_at timestamptz(3) not null,
    model text not null,
    dimensions integer not null,
    chunking text not null,
    texts text[] not null,
    places jsonb not null,
    vectors bytea not null,
    ${ofDocument('staged_index')}
  )`,
  `create index staged_index_workspace on staged_index (workspace_id, document_id)`,
  // They do not compress; trying costs more than storing them.
  `alter table staged_index alter column vectors set storage external`,
];
