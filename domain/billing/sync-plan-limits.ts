import { sql } from 'kysely';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';

/**
 * Stores how many members each plan allows, and the limits of sign-up, for the triggers that guard better-auth's tables. Run it when the
 * API starts. Without billing no plan has a limit.
 */
export async function syncPlanLimits(db: Db, config: Pick<ServerConfig, 'billing' | 'plans' | 'signUp'>): Promise<void> {
  const { enabled, dunningDays } = config.billing;
  const rows = Object.entries(config.plans).map(([plan, { members }]) => ({ plan, members, dunning_days: dunningDays }));
  const limits = Object.entries(config.signUp).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  await db.transaction().execute(async (trx) => {
    // Several processes may start at once.
    await sql`lock table plan_limit in share row exclusive mode`.execute(trx);
    await trx.deleteFrom('plan_limit').execute();
    if (enabled) await trx.insertInto('plan_limit').values(rows).execute();
    await trx.deleteFrom('auth_limit').execute();
    if (limits.length > 0) await trx.insertInto('auth_limit').values(limits).execute();
  });
}
