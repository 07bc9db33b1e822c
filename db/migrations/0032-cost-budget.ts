import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** What providers may cost a workspace in a month, in millionths of the currency, null without a budget; and the index that adds it up. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`alter table workspace add column if not exists cost_budget_micros bigint`.execute(trx);
  });
  await createIndexes(db, { provider_call_workspace: 'on provider_call (workspace_id, created_at) where workspace_id is not null' });
}
