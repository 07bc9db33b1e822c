import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { DocumentGone } from '../documents/document-gone.ts';

/**
 * Makes every unfinished job of a workspace final and refunds it, because the workspace is being deleted (decisions, Smaller
 * rules): jobs on its documents as missing document. One statement, however many there are; a running attempt finds its job final
 * and stores nothing. Answers the ids. Needs the organization's lock and the workspace's.
 */
export async function failWorkspaceJobs(trx: Transaction, workspaceId: string): Promise<string[]> {
  const ofDocument = sql<boolean>`kind like 'document.%'`;
  const { rows } = await sql<{ id: string }>`
    with failed as (
      update job set status = 'failed', claimed_by = null, next_attempt_at = null,
        finished_at = clock_timestamp(), updated_at = clock_timestamp(),
        error_code = case when ${ofDocument} then 'document_missing' else 'workspace_missing' end,
        error_message = case when ${ofDocument} then ${new DocumentGone().message} else 'The workspace of this job was deleted.' end
      where workspace_id = ${workspaceId} and status in ('queued', 'running')
      returning id, organization_id, credits, credit_month
    ), refunded as (
      insert into credit_entry (organization_id, key, amount, month, job_id, reason)
      select organization_id, 'job:' || id || ':refund', -credits, credit_month, id, 'failed' from failed
      on conflict (key) do nothing
      returning organization_id, month, amount
    ), counted as (
      update credit_month set used = used + total.amount
      from (select organization_id, month, sum(amount) as amount from refunded group by organization_id, month) as total
      where credit_month.organization_id = total.organization_id and credit_month.month = total.month
    )
    select id from failed
  `.execute(trx);
  return rows.map(({ id }) => id);
}
