import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** Stores for whom credits were charged, null for older charges, and adds the index that finds the entries of a period. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`alter table credit_entry add column if not exists workspace_id text, add column if not exists actor_id text`.execute(trx);
  });
  await createIndexes(db, { credit_entry_time: 'on credit_entry (organization_id, created_at)' });
}
