import { type Kysely, sql } from 'kysely';

/**
 * What a search by words reads: the postings of each term of a workspace, and of each document how much it adds to the counts of its
 * workspace. A document without them, or one that an older version has indexed again, is found by its `indexed_at` and given its postings
 * later, outside of this migration. Nothing here reads or changes a table that is there.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table lexical_document (
    document_id text primary key,
    number bigint not null generated always as identity,
    organization_id text not null,
    workspace_id text not null,
    indexed_at timestamptz(3) not null,
    chunk_count integer not null,
    term_count integer not null,
    workspace_key bigint not null,
    terms bigint[] not null,
    constraint lexical_document_document_fkey foreign key (document_id, workspace_id, organization_id)
      references document (id, workspace_id, organization_id) on delete cascade
  )`,
  // They do not compress; trying costs more than storing them.
  `alter table lexical_document alter column terms set storage external`,
  // They hold all that is read of many documents, so that the table is not.
  `create index lexical_document_workspace on lexical_document (workspace_id) include (chunk_count, term_count)`,
  `create unique index lexical_document_number on lexical_document (number)`,

  // Short keys: there is a row for nearly each word of a small document. The key holds all that a search reads.
  `create table posting (
    workspace_key bigint not null,
    term bigint not null,
    document_number bigint not null,
    part integer not null,
    postings text not null,
    primary key (workspace_key, term, document_number, part) include (postings)
  )`,

  // A foreign key would be checked for each posting, and would need another index. The list of its terms leads to a document's postings.
  `create function delete_postings() returns trigger language plpgsql as $$
     begin
       delete from posting using unnest(old.terms) as deleted (term)
         where posting.workspace_key = old.workspace_key and posting.term = deleted.term and posting.document_number = old.number;
       return null;
     end $$`,
  `create trigger lexical_document_postings after delete on lexical_document for each row execute function delete_postings()`,
];
