import { type RawBuilder, sql } from 'kysely';

/** The first day of this month, UTC. */
export const thisMonth = sql<string>`date_trunc('month', now() at time zone 'utc')::date`;

/** A budget that a charge would exceed. */
interface ExceededBudget {
  scope: 'workspace' | 'key';
  limit: number;
}

interface BudgetedCharge {
  credits: number;
  workspaceId?: string | null;
  actorId?: string | null;
}

/**
 * The budgets of a charge's workspace and API key that it would exceed, as a query of {@link ExceededBudget}. The entries of the
 * month are added up, refunds among them. Needs the organization's lock, under which nothing else is charged.
 */
export function exceededBudgets({ workspaceId, actorId, credits }: BudgetedCharge): RawBuilder<ExceededBudget> {
  const used = (of: RawBuilder<unknown>) => sql`(select coalesce(sum(amount), 0) from credit_entry where ${of} and month = ${thisMonth})`;
  const exceeds = (of: RawBuilder<unknown>) => sql`credit_budget is not null and credit_budget < ${credits}::int + ${used(of)}`;
  return sql`
    select 'workspace' as scope, credit_budget as limit from workspace
      where id = ${workspaceId ?? null} and ${exceeds(sql`workspace_id = ${workspaceId ?? null}`)}
    union all
    select 'key', credit_budget from api_key
      where id = ${actorId ?? null} and ${exceeds(sql`actor_id = ${actorId ?? null} and actor_id like 'key\\_%'`)}
  `;
}
