import type { Kysely } from 'kysely';
import { createIndexes } from './online.ts';

export const online = true;

/** The uploads that are to replace a document go with it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, { document_replacing: 'on document (replaces) where replaces is not null' });
}
