import { type Kysely, sql } from 'kysely';

/** What providers of models did, and for whom; a row for each request to the AI service that one served. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table provider_call (
    id bigint generated always as identity primary key,
    organization_id text references organization (id) on delete cascade,
    workspace_id text,
    document_id text,
    api_key_id text,
    purpose text not null,
    purpose_id text,
    attempt integer,
    role text not null,
    model text,
    calls integer not null default 1,
    unreported_calls integer not null default 1,
    input_tokens bigint not null default 0,
    cached_tokens bigint not null default 0,
    output_tokens bigint not null default 0,
    created_at timestamptz(3) not null default now()
  )`.execute(db);
  await sql`create index provider_call_time on provider_call (organization_id, created_at)`.execute(db);
}
