import type { Kysely } from 'kysely';

/** Why the deployment takes no writes; null while it does. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('deployment').addColumn('read_only', 'text').execute();
}
