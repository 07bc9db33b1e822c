import { type Kysely, sql } from 'kysely';

/** What each workspace does with uploads by itself: nothing, unless it is told. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workspace add column auto_process text[] not null default '{}'`.execute(db);
}
