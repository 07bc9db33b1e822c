import type { Kysely } from 'kysely';
import { createIndexes } from './online.ts';

export const online = true;

/** Finds the calls of providers that are past their time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, { provider_call_created: 'on provider_call (created_at)' });
}
