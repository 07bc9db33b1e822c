import { type Kysely, sql } from 'kysely';

/**
 * By which version of the terms the postings of a document were made; null for those before. They are looked through outside of this
 * migration.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table lexical_document add column terms_version smallint`.execute(db);
}
