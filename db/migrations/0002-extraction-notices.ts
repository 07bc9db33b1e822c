import { type Kysely, sql } from 'kysely';

/** What extraction left out or had to guess, for each document. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table document add column extracted_notices jsonb`.execute(db);
}
