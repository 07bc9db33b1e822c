import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';

/**
 * Gives a job's credits back, in the transaction that makes it final without success (docs/rules.md, ledger). Carries the charge's month.
 * The entry's key makes it happen once, whoever comes second.
 */
export async function refundJob(
  trx: Transaction,
  job: { id: string; organization_id: string; credits: number; credit_month: string },
  reason: string,
): Promise<void> {
  await sql`
    with refunded as (
      insert into credit_entry (organization_id, key, amount, month, job_id, reason)
      values (${job.organization_id}, ${`job:${job.id}:refund`}, ${-job.credits}::int, ${job.credit_month}::date, ${job.id}, ${reason})
      on conflict (key) do nothing
      returning organization_id, month, amount
    )
    update credit_month set used = used + refunded.amount from refunded
    where credit_month.organization_id = refunded.organization_id and credit_month.month = refunded.month
  `.execute(trx);
}
