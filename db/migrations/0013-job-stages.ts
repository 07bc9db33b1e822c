import { type Kysely, sql } from 'kysely';

/** The results of the stages that a job has done; null for a job that has none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table job add column stages jsonb`.execute(db);
}
