import type { Kysely } from 'kysely';
import { createIndexes } from './online.ts';

export const online = true;

/** Finds long terms by their end: compounds by their last part. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, { posting_reversed: 'on posting (workspace_key, reverse(term)) where part = 0 and length(term) >= 8' });
}
