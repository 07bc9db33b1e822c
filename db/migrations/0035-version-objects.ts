import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** The object that had the bytes of a version, by which its upload is found once that version was replaced; null in older rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`alter table document_version add column if not exists object_key text`.execute(trx);
  });
  await createIndexes(db, { document_version_object: 'on document_version (object_key)' });
}
