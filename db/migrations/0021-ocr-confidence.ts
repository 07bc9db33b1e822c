import { type Kysely, sql } from 'kysely';

/** How sure text recognition was of each page of a document, in percent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table document add column extracted_ocr_confidence smallint[]`.execute(db);
}
