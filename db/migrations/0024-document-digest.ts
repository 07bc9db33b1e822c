import { type Kysely, sql } from 'kysely';

/** The SHA-256 of a document's bytes, in hex; null until the service has read them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table document add column sha256 text`.execute(db);
}
