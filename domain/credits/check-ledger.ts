import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** A contradiction within the ledger, or between the ledger and the jobs, about one job or one month of an organization. */
export interface LedgerProblem {
  organization_id: string;
  job_id: string | null;
  /** First day of the month that the entries count against. */
  month: string | null;
  problem: LedgerProblemKind;
  /** Credits that should be there, and that are. */
  expected: number;
  found: number;
}

export type LedgerProblemKind =
  /** A job's charge is missing, or has another amount, month or organization. */
  | 'charge'
  /** A failed or canceled job has no refund, another one has a refund, or a refund has another amount or month. */
  | 'refund'
  /** A refund of a job or a search without its charge; the job itself may be gone. */
  | 'refund_without_charge'
  /** A month's counter is not the sum of its entries. */
  | 'month';

/**
 * Compares the credit ledger with the existing jobs, and the counters of the months with the ledger (docs/rules.md, ledger), in one
 * snapshot. Returns at most `limit` problems; none for a sound database. Reads every entry, so it is for operators and tests.
 */
export async function checkLedger(
  db: Db,
  { organizationId = null, limit = 1_000 }: { organizationId?: string | null; limit?: number } = {},
): Promise<LedgerProblem[]> {
  const { rows } = await sql<LedgerProblem>`
    with entries as (
      select * from credit_entry where ${organizationId}::text is null or organization_id = ${organizationId}
    ), jobs as (
      select id, organization_id, credit_month, credits,
        case when status in ('failed', 'canceled') then -credits else 0 end as refund
      from job where ${organizationId}::text is null or organization_id = ${organizationId}
    ), job_sums as (
      select jobs.id, jobs.organization_id, jobs.credit_month, jobs.credits, jobs.refund,
        coalesce(sum(amount) filter (where key = 'job:' || jobs.id || ':charge'), 0) as charged,
        coalesce(sum(amount) filter (where key = 'job:' || jobs.id || ':refund'), 0) as refunded
      from jobs left join entries on entries.job_id = jobs.id and entries.month = jobs.credit_month
        and entries.organization_id = jobs.organization_id
      group by jobs.id, jobs.organization_id, jobs.credit_month, jobs.credits, jobs.refund
    ), month_sums as (
      select organization_id, month, sum(amount) as total from entries group by organization_id, month
    ), months as (
      select * from credit_month where ${organizationId}::text is null or organization_id = ${organizationId}
    )
    select organization_id, id as job_id, credit_month as month, 'charge' as problem, credits::bigint as expected, charged as found
      from job_sums where charged <> credits
    union all
    select organization_id, id, credit_month, 'refund', refund::bigint, refunded from job_sums where refunded <> refund
    union all
    select refund.organization_id, refund.job_id, refund.month, 'refund_without_charge', 0, refund.amount::bigint
      from entries as refund
      where refund.key like '%:refund' and not exists (
        select from entries as charge where charge.key = regexp_replace(refund.key, 'refund$', 'charge')
          and charge.organization_id = refund.organization_id and charge.month = refund.month and charge.amount = -refund.amount
      )
    union all
    select organization_id, null, month, 'month', coalesce(total, 0), coalesce(used, 0)
      from month_sums full join months using (organization_id, month)
      where coalesce(total, 0) <> coalesce(used, 0)
    limit ${limit}
  `.execute(db);
  return rows;
}
