import { type RawBuilder, sql } from 'kysely';
import type { PriceTable } from '../../base/config/prices.ts';
import { costOfMonth } from '../costs/read-costs.ts';

/** The first day of this month, UTC. */
export const thisMonth = sql<string>`date_trunc('month', now() at time zone 'utc')::date`;

/** A budget that a charge would exceed. */
interface ExceededBudget {
  kind: 'aiCredits' | 'costMicros';
  scope: 'workspace' | 'key';
  limit: number;
}

/** The prices of providers, by which a budget in money is counted; without them there is none. */
export type Prices = PriceTable['prices'] | undefined;

interface BudgetedCharge {
  credits: number;
  workspaceId?: string | null;
  actorId?: string | null;
}

/**
 * The budgets of a charge's workspace and API key that it would exceed, as a query of {@link ExceededBudget}. The entries of the
 * month are added up, refunds among them. Needs the organization's lock, under which nothing else is charged. What providers cost is known
 * only after their calls: a budget in money is exceeded once it is reached.
 */
export function exceededBudgets({ workspaceId, actorId, credits }: BudgetedCharge, prices: Prices): RawBuilder<ExceededBudget> {
  const used = (of: RawBuilder<unknown>) => sql`(select coalesce(sum(amount), 0) from credit_entry where ${of} and month = ${thisMonth})`;
  const exceeds = (of: RawBuilder<unknown>) => sql`credit_budget is not null and credit_budget < ${credits}::int + ${used(of)}`;
  const overCost =
    prices && workspaceId
      ? sql`union all select 'costMicros', 'workspace', cost_budget_micros from workspace
          where id = ${workspaceId} and cost_budget_micros is not null and cost_budget_micros <= ${costOfMonth(prices, workspaceId)}`
      : sql``;
  return sql`
    select 'aiCredits' as kind, 'workspace' as scope, credit_budget::bigint as limit from workspace
      where id = ${workspaceId ?? null} and ${exceeds(sql`workspace_id = ${workspaceId ?? null}`)}
    union all
    select 'aiCredits', 'key', credit_budget from api_key
      where id = ${actorId ?? null} and ${exceeds(sql`actor_id = ${actorId ?? null} and actor_id like 'key\\_%'`)}
    ${overCost}
  `;
}
