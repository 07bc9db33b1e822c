import { type Kysely, sql } from 'kysely';

/** How often the content of a document was replaced, what an upload will replace, and what each version was. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table document add column version integer not null default 1, add column replaces text`.execute(db);
  await sql`create table document_version (
    document_id text not null references document (id) on delete cascade,
    number integer not null,
    sha256 text,
    size_bytes bigint not null,
    created_by text,
    created_at timestamptz(3) not null,
    primary key (document_id, number)
  )`.execute(db);
}
