import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** Notes for whom credits were charged, and finds the entries of a time. Both are null for charges from before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`alter table credit_entry add column if not exists workspace_id text, add column if not exists actor_id text`.execute(trx);
  });
  await createIndexes(db, { credit_entry_time: 'on credit_entry (organization_id, created_at)' });
}
