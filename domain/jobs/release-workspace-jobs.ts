import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { addFact } from '../../db/facts.ts';
import type { JobKind } from '../../db/schema.ts';
import { DocumentGone } from '../documents/document.ts';

/**
 * Detaches the jobs of a workspace that is being deleted with its documents. Unfinished jobs fail and are refunded; a running attempt
 * finds its job final and stores nothing. Returns the ids of those that failed. Needs the locks of the organization and the workspace.
 */
export async function releaseWorkspaceJobs(trx: Transaction, workspaceId: string): Promise<string[]> {
  const failed = await failUnfinished(trx, workspaceId);
  // Without this, the foreign keys of documents and workspace would each update every row.
  await trx.updateTable('job').set({ workspace_id: null, document_id: null }).where('workspace_id', '=', workspaceId).execute();
  return failed;
}

/**
 * Sets the time of change of jobs to now. A bulk transaction that changed jobs must end with it: it may last longer than a stream's replay
 * looks back (docs/rules.md, notifications may be lost).
 */
export async function touchJobs(trx: Transaction, jobIds: string[]): Promise<void> {
  await sql`update job set updated_at = clock_timestamp() where id = any(${jobIds})`.execute(trx);
}

/** Fails and refunds in one statement, however many there are (docs/rules.md, ledger). */
async function failUnfinished(trx: Transaction, workspaceId: string): Promise<string[]> {
  const ofDocument = sql<boolean>`kind like 'document.%'`;
  const { rows } = await sql<{ id: string; kind: JobKind; credits: number }>`
    with failed as (
      update job set workspace_id = null, document_id = null, status = 'failed', claimed_by = null, next_attempt_at = null,
        finished_at = clock_timestamp(), updated_at = clock_timestamp(),
        error_code = case when ${ofDocument} then 'document_missing' else 'workspace_missing' end,
        error_message = case when ${ofDocument} then ${new DocumentGone().message} else 'The workspace of this job was deleted.' end
      where workspace_id = ${workspaceId} and status in ('queued', 'running')
      returning id, kind, organization_id, credits, credit_month
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
    select id, kind, credits from failed
  `.execute(trx);
  for (const { kind, credits } of rows) {
    addFact(trx, { what: 'job changed', kind, outcome: 'failed', seconds: undefined });
    addFact(trx, { what: 'credits refunded', purpose: 'job', credits });
  }
  return rows.map(({ id }) => id);
}
