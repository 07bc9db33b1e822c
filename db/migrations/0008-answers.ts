import { type Kysely, sql } from 'kysely';

/** Answers that were charged and have not ended yet. Not in `open_search`, whose rows the version before refunds as searches. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table open_answer (
      id text primary key,
      organization_id text not null references organization (id) on delete cascade,
      month date not null,
      charged_at timestamptz(3) not null default now()
    )
  `.execute(db);
}
