import type { Kysely } from 'kysely';
import { createIndexes } from './online.ts';

export const online = true;

/** The deliveries that wait, of all organizations, for the metrics. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, { webhook_delivery_pending: "on webhook_delivery (created_at) where status = 'pending'" });
}
