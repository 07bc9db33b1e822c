import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** The credits that workspaces and API keys may use in a month, null without a budget; and the indexes that add up their use. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`alter table workspace add column if not exists credit_budget integer`.execute(trx);
    await sql`alter table api_key add column if not exists credit_budget integer`.execute(trx);
  });
  await createIndexes(db, {
    credit_entry_workspace: 'on credit_entry (workspace_id, month) include (amount) where workspace_id is not null',
    credit_entry_key: "on credit_entry (actor_id, month) include (amount) where actor_id like 'key\\_%'",
  });
}
