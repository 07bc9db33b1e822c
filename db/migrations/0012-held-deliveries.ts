import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** Which deliveries wait for their endpoint without a workflow, and in which order they are started. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`alter table webhook_delivery add column if not exists held boolean not null default false`.execute(trx);
  });
  await createIndexes(db, { webhook_delivery_held: 'on webhook_delivery (endpoint_id, created_at, id) where held' });
}
