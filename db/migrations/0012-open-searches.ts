import { type Kysely, sql } from 'kysely';

/** Searches that were charged and have not come to their end. The ledger only grows, and does not say which of its charges are settled. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table open_search (
      id text primary key,
      organization_id text not null references organization (id) on delete cascade,
      month date not null,
      charged_at timestamptz(3) not null default now()
    )
  `.execute(db);
}
