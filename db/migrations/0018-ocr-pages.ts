import { type Kysely, sql } from 'kysely';

/** How many pages of a document text recognition has read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table document add column extracted_ocr_pages integer`.execute(db);
}
