import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import { addFact } from '../../db/add-fact.ts';
import type { Transaction } from '../../db/connect.ts';
import type { CreditPurpose } from '../../db/facts.ts';
import type { Plan } from '../billing/plan.ts';
import { emitCreditEvents } from '../webhooks/emit-credit-events.ts';
import { exceededBudgets, type Prices, thisMonth } from './budgets.ts';

export interface Charge {
  organizationId: string;
  /** Unique: `<purpose>:<id>:charge`, of a job, a search or an answer. */
  key: string;
  credits: number;
  jobId: string | null;
  reason: string;
  /** The workspace, and the user or API key, to which the history of usage assigns the charge. */
  workspaceId?: string | null;
  actorId?: string | null;
}

/**
 * Charges credits to the organization's current month (UTC), and returns the first day of that month. Needs the organization's lock.
 * Throws LIMIT_REACHED if the plan has too few credits left, or a budget of the workspace or the API key, in money too if
 * there are prices; without either there is no limit (docs/rules.md, ledger).
 */
export async function chargeCredits(trx: Transaction, charge: Charge, plan: Plan | null, prices?: Prices): Promise<string> {
  const limit = plan?.limits.aiCredits ?? null;
  const { rows } = await sql<{ month: string; used: number }>`
    with counted as (
      insert into credit_month as counter (organization_id, month, used)
      select ${charge.organizationId}, ${thisMonth}, ${charge.credits}::int
      where not exists (${exceededBudgets(charge, prices)}) and (${limit === null} or ${charge.credits}::int <= ${limit ?? 0}::bigint)
      on conflict (organization_id, month) do update set used = counter.used + excluded.used
      where ${limit === null} or counter.used + excluded.used <= ${limit ?? 0}::bigint
      returning month, used
    ), entered as (
    insert into credit_entry (organization_id, key, amount, month, job_id, reason, workspace_id, actor_id)
    select ${charge.organizationId}, ${charge.key}, ${charge.credits}::int, month, ${charge.jobId}, ${charge.reason},
      ${charge.workspaceId ?? null}, ${charge.actorId ?? null} from counted
      returning month
    )
    select month, used from counted
  `.execute(trx);
  const [charged] = rows;
  if (charged) {
    const { month, used } = charged;
    const [purpose] = charge.key.split(':') as [CreditPurpose];
    addFact(trx, { what: 'credits charged', purpose, credits: charge.credits });
    if (plan) await emitCreditEvents(trx, { organizationId: charge.organizationId, month, used }, plan);
    return month;
  }
  throw await limitReached(trx, charge, plan, prices);
}

async function limitReached(trx: Transaction, charge: Charge, plan: Plan | null, prices: Prices): Promise<ApiError<'LIMIT_REACHED'>> {
  const { rows } = await exceededBudgets(charge, prices).execute(trx);
  const [budget] = rows;
  const { kind, scope, limit } = budget ?? { kind: 'aiCredits', scope: 'organization', limit: plan?.limits.aiCredits ?? 0 };
  const data = { kind, limit, plan: plan?.plan ?? 'free', scope } as const;
  if (!budget) return new ApiError('LIMIT_REACHED', { data });
  const message = `The budget ${kind === 'costMicros' ? 'in money ' : ''}of ${scope === 'key' ? 'this API key' : 'this workspace'} for the month is used up.`;
  return new ApiError('LIMIT_REACHED', { message, data });
}

/**
 * Gives back the credits of a job, in the transaction that makes it failed or canceled (docs/rules.md, ledger). A second refund of the
 * same job changes nothing.
 */
export async function refundJob(
  trx: Transaction,
  job: { id: string; organization_id: string; credits: number; credit_month: string },
  reason: string,
): Promise<void> {
  const { rows } = await sql`
    with refunded as (
      insert into credit_entry (organization_id, key, amount, month, job_id, reason)
      values (${job.organization_id}, ${`job:${job.id}:refund`}, ${-job.credits}::int, ${job.credit_month}::date, ${job.id}, ${reason})
      on conflict (key) do nothing
      returning organization_id, month, amount
    )
    update credit_month set used = used + refunded.amount from refunded
    where credit_month.organization_id = refunded.organization_id and credit_month.month = refunded.month
    returning refunded.amount
  `.execute(trx);
  if (rows.length > 0) addFact(trx, { what: 'credits refunded', purpose: 'job', credits: job.credits });
}
