import { sql } from 'kysely';
import type { PriceTable } from '../../base/config/prices.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import type { PlanLimits, PlanName } from '../../contract/fields.ts';
import type { Db } from '../../db/connect.ts';
import { effectivePlan, type PlanSource } from './effective-plan.ts';

export interface Plan {
  plan: PlanName;
  limits: PlanLimits;
  /** What of this an operator has given by hand. */
  override?: PlanOverride;
}

interface PlanOverride {
  plan: PlanName | null;
  limits: Partial<PlanLimits>;
  until: Date;
  reason: string;
}

/** {@link getPlan} with the settings of the process already given, and the prices by which budgets in money are counted. */
export type GetPlan = ((db: Db, organizationId: string) => Promise<Plan | null>) & { prices?: PriceTable['prices'] };

/** What reads plans with the settings of this process. */
export function createGetPlan(config: Pick<ServerConfig, 'billing' | 'plans' | 'prices'>): GetPlan {
  const read: GetPlan = (db, organizationId) => getPlan(db, config, organizationId);
  return config.prices ? Object.assign(read, { prices: config.prices.prices }) : read;
}

/** The same without prices: for a charge to a workspace whose budget in money was checked just before, in the same transaction. */
export function withoutPrices(getPlan: GetPlan): GetPlan {
  return (db, organizationId) => getPlan(db, organizationId);
}

/**
 * The plan that counts for an organization now, by hand or by its subscriptions, and its limits; null while billing is off, when nothing is
 * capped. One query; read it under the organization's lock if a limit is checked.
 */
export async function getPlan(db: Db, config: Pick<ServerConfig, 'billing' | 'plans'>, organizationId: string): Promise<Plan | null> {
  if (!config.billing.enabled) return null;
  const { rows } = await sql<PlanSource & { now: Date; hasSubscription: boolean; override: Override | null }>`
    select now() as now, subscription.id is not null as "hasSubscription", subscription.plan, status, "periodEnd", "pastDueSince",
      (select json_build_object('plan', o.plan, 'limits', o.limits, 'until', until, 'reason', reason)
        from plan_override as o where o.organization_id = wanted.id and until > now()) as override
    from (select ${organizationId}::text as id) as wanted
    left join subscription on "referenceId" = wanted.id and status in ('active', 'trialing', 'past_due')
  `.execute(db);
  const { now = new Date(), override } = rows[0] ?? {};
  const subscriptions = rows.filter(({ hasSubscription }) => hasSubscription);
  const plan = override?.plan ?? effectivePlan(subscriptions, { now, dunningDays: config.billing.dunningDays });
  return { plan, limits: { ...config.plans[plan], ...override?.limits }, ...(override && { override: toOverride(override) }) };
}

/** It comes as JSON, so its time is text. */
type Override = Omit<PlanOverride, 'until'> & { until: string };

function toOverride({ until, ...override }: Override): PlanOverride {
  return { ...override, until: new Date(until) };
}
