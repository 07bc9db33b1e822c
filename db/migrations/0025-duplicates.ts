import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** The digest that an upload has promised, what each workspace does with contents that it has already, and the index that finds them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`alter table document add column if not exists promised_sha256 text`.execute(trx);
    await sql`
      alter table workspace add column if not exists on_duplicate text not null default 'allow'
        check (on_duplicate in ('allow', 'return', 'refuse'))
    `.execute(trx);
  });
  await createIndexes(db, { document_content: 'on document (workspace_id, sha256) where sha256 is not null' });
}
