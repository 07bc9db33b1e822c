import { sql } from 'kysely';
import type { ServerConfig } from '../../base/config/server.ts';
import type { PlanLimits, PlanName } from '../../contract/fields.ts';
import type { Db } from '../../db/connect.ts';
import { effectivePlan } from './effective-plan.ts';

export interface Plan {
  plan: PlanName;
  limits: PlanLimits;
}

/** {@link getPlan} with the settings of the process already given. */
export type GetPlan = (db: Db, organizationId: string) => Promise<Plan | null>;

/**
 * The plan that counts for an organization now, and its limits; null while billing is off, when nothing is capped. One query;
 * read it under the organization's lock if a limit is checked.
 */
export async function getPlan(db: Db, config: Pick<ServerConfig, 'billing' | 'plans'>, organizationId: string): Promise<Plan | null> {
  if (!config.billing.enabled) return null;
  const subscriptions = await db
    .selectFrom('subscription')
    .select(['plan', 'status', 'periodEnd', 'pastDueSince', sql<Date>`now()`.as('now')])
    .where('referenceId', '=', organizationId)
    .where('status', 'in', ['active', 'trialing', 'past_due'])
    .execute();
  const now = subscriptions[0]?.now ?? new Date();
  const plan = effectivePlan(subscriptions, { now, dunningDays: config.billing.dunningDays });
  return { plan, limits: config.plans[plan] };
}
