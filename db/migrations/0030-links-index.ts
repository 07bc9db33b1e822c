import type { Kysely } from 'kysely';
import { createIndexes } from './online.ts';

/** Finds the links of a user, to end them. A hash, since other values are longer than an index of trees takes. */
export const online = true;

export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, { verification_value: 'on verification using hash (value)' });
}
