import { type Kysely, sql } from 'kysely';

/** The charset that was declared with a text document; null if none was. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table document add column charset text`.execute(db);
}
