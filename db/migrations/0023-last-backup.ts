import type { Kysely } from 'kysely';

/** As of when the latest backup is, for its age as a metric. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('deployment').addColumn('backed_up_at', 'timestamptz').execute();
}
