import type { Kysely } from 'kysely';

/** The level of the log that an operator has set, and its end; null while none is set. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('deployment').addColumn('log_level', 'text').addColumn('log_level_until', 'timestamptz').execute();
}
