import { type Kysely, sql } from 'kysely';

/**
 * API keys. They have idempotency keys like users, so those no longer refer to the table of users; triggers delete them with either
 * (`db/triggers/api-keys.sql`).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table api_key (
      id text primary key,
      organization_id text not null references organization (id) on delete cascade,
      workspace_id text references workspace (id) on delete cascade,
      responsible_id text references "user" (id) on delete set null,
      name text not null,
      permissions text[] not null,
      requests_per_minute integer not null,
      lifetime_days integer,
      prefix text not null,
      hash text not null unique,
      expires_at timestamptz(3),
      previous_hash text unique,
      previous_expires_at timestamptz(3),
      previous_responsible_id text references "user" (id) on delete set null,
      last_used_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      constraint api_key_overlap_ends check (previous_hash is null or previous_expires_at is not null)
    )
  `.execute(db);
  await sql`create index api_key_organization on api_key (organization_id)`.execute(db);
  await sql`create index api_key_workspace on api_key (workspace_id) where workspace_id is not null`.execute(db);
  await sql`create index api_key_responsible on api_key (responsible_id)`.execute(db);
  await sql`create index api_key_previous_responsible on api_key (previous_responsible_id)`.execute(db);
  await sql`alter table idempotency_key drop constraint idempotency_key_user_id_fkey`.execute(db);
}
