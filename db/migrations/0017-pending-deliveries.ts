import type { Kysely } from 'kysely';
import { createIndexes } from './online.ts';

export const online = true;

/** The deliveries that wait, of all organizations, for the metrics: how many, and since when the first of them is due. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, {
    webhook_delivery_pending: "on webhook_delivery (created_at) where status = 'pending'",
    webhook_delivery_due: "on webhook_delivery (coalesce(next_attempt_at, created_at)) where status = 'pending' and not held",
  });
}
