import { sql } from 'kysely';
import type { ServerConfig } from '../../config/server.ts';
import type { PlanName } from '../../contract/fields.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { Plan } from './plan.ts';

/**
 * The plan that counts for an organization now, and its limits; null while billing is off, when nothing is capped. One query;
 * read it under the organization's lock where a limit is checked. A `past_due` subscription keeps its plan for
 * `BILLING_DUNNING_DAYS` after the period that was not renewed.
 */
export async function getPlan(
  db: Db | Transaction,
  config: Pick<ServerConfig, 'billing' | 'plans'>,
  organizationId: string,
): Promise<Plan | null> {
  if (!config.billing.enabled) return null;
  const { rows } = await sql<{ plan: PlanName }>`
    select organization_plan(${organizationId}, ${config.billing.dunningDays}) as plan
  `.execute(db);
  const plan = rows[0]?.plan ?? 'free';
  return { plan, limits: config.plans[plan] };
}
