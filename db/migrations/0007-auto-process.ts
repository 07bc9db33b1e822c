import { type Kysely, sql } from 'kysely';

/** The jobs that each workspace queues for an upload: none by default. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workspace add column auto_process text[] not null default '{}'`.execute(db);
}
