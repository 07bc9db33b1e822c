import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** For how many days each workspace keeps what; a kind that is absent has no end of its own. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`alter table workspace add column if not exists retention jsonb not null default '{}'`.execute(trx);
  });
  await createIndexes(db, {
    document_extracted: 'on document (workspace_id, extracted_at, id) where extracted_at is not null',
    workspace_retention: "on workspace (id) where retention <> '{}'",
  });
}
