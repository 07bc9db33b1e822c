import { type Kysely, sql } from 'kysely';

/**
 * What a search reads: vectors in blocks, vectors of pgvector where that is there, and postings by their terms. Nothing was released before
 * it, so what earlier migrations made for the same purpose is dropped.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `drop table if exists vector_block_half, vector_block, posting, lexical_document`,
  `drop function dot_product, delete_postings`,
  `alter table document drop column quantized_at`,
  `alter table document_index drop column indexed_at`,
  `alter table staged_index drop column indexed_at`,

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

  `create table lexical_document (
    document_id text primary key,
    number bigint not null generated always as identity,
    organization_id text not null,
    workspace_id text not null,
    chunk_count integer not null,
    term_count integer not null,
    workspace_key bigint not null,
    terms text[] not null,
    constraint lexical_document_document_fkey foreign key (document_id, workspace_id, organization_id)
      references document (id, workspace_id, organization_id) on delete cascade
  )`,
  // They hold all that is read of many documents, so that the table is not.
  `create index lexical_document_workspace on lexical_document (workspace_id) include (chunk_count, term_count)`,
  `create unique index lexical_document_number on lexical_document (number)`,

  // There is a row for nearly each word of a small document: keys are short, and the index holds all that a search reads.
  `create table posting (
    workspace_key bigint not null,
    term text collate "C" not null,
    document_number bigint not null,
    part integer not null,
    chunk_count integer not null,
    postings text not null,
    primary key (workspace_key, term, document_number, part) include (chunk_count, postings)
  )`,

  // A foreign key would be checked for each posting, and would need another index. The list of its terms leads to a document's postings.
  `create function delete_postings() returns trigger language plpgsql as $$
     begin
       delete from posting using unnest(old.terms) as deleted (term)
         where posting.workspace_key = old.workspace_key and posting.term = deleted.term and posting.document_number = old.number;
       return null;
     end $$`,
  `create trigger lexical_document_postings after delete on lexical_document for each row execute function delete_postings()`,

  // Installs pgvector if it can be, and makes its table, with the vectors of all chunks. Says its version, or why there is none.
  `create function adopt_pgvector(out version text, out problem text) language plpgsql as $$
     begin
       if not exists (select from pg_extension where extname = 'vector') then
         if not exists (select from pg_available_extensions where name = 'vector') then
           problem := 'the database has no pgvector';
           return;
         end if;
         begin
           create extension vector;
         exception when others then
           problem := 'pgvector is there, but cannot be installed: ' || sqlerrm;
           return;
         end;
       end if;
       select extversion into version from pg_extension where extname = 'vector';
       if string_to_array(version, '.')::int[] < array[0, 8] then
         problem := 'pgvector ' || version || ' is too old: 0.8 is needed';
         version := null;
         return;
       end if;
       if to_regclass('chunk_vector') is not null then return; end if;
       perform set_config('lock_timeout', '2s', true);
       lock table chunk in share mode;
       create table chunk_vector (
         document_id text not null,
         index integer not null,
         workspace_id text not null,
         model text not null,
         dimensions integer not null,
         vector halfvec not null,
         primary key (document_id, index),
         foreign key (document_id, index) references chunk (document_id, index) on delete cascade
       );
       alter table chunk_vector set (toast_tuple_target = 8160);
       create index chunk_vector_workspace on chunk_vector (workspace_id, model, dimensions);
       insert into chunk_vector
         select document_id, index, workspace_id, model, cardinality(embedding), embedding::halfvec from chunk
         where cardinality(embedding) between 1 and 16000;
     end $$`,
  `select adopt_pgvector()`,
];
