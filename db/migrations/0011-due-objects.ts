import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** One organization's objects in the order in which they are due to be deleted, and those that a store has refused to delete. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, {
    object_to_delete_next: 'on object_to_delete (organization_id, next_attempt_at, key)',
    object_to_delete_refused: 'on object_to_delete (organization_id) where attempts > 0',
  });
  await withShortLocks(db, async (trx) => {
    await sql`drop index if exists object_to_delete_organization`.execute(trx);
  });
}
