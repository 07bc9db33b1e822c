import { sql } from 'kysely';
import { signalJobCanceled } from '../../contract/intents/definitions.ts';
import { addFact } from '../../db/add-fact.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { DocumentGone } from '../documents/document.ts';
import type { Position } from '../drain.ts';
import type { JobRow } from './job.ts';

interface ReleasedJobs {
  released: number;
  failed: number;
  /** The oldest released job; undefined if there are no more. */
  last: Position | undefined;
}

/**
 * Detaches at most `limit` jobs of a deleted workspace: the newest, or the next older ones `after` a job. Unfinished jobs fail and are
 * refunded, and their workflows get a signal; a running attempt finds its job final and stores nothing.
 */
export async function releaseWorkspaceJobs(
  trx: Transaction,
  workspaceId: string,
  { after, limit }: { after?: Position | undefined; limit: number },
): Promise<ReleasedJobs> {
  let page = trx
    .selectFrom('job')
    .select(['id', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (after) page = page.where(sql<boolean>`(created_at, id) < (${after.created_at}, ${after.id})`);
  const jobs = await page.execute();
  const ids = jobs.map(({ id }) => id);
  const failed = await failUnfinished(trx, ids);
  await trx
    .updateTable('job')
    .set({ workspace_id: null, document_id: null })
    .where('id', '=', sql<string>`any(${ids})`)
    .where('workspace_id', '=', workspaceId)
    .execute();
  for (const { id, organization_id } of failed) addToOutbox(trx, signalJobCanceled(id, organization_id));
  return { released: jobs.length, failed: failed.length, last: jobs.length < limit ? undefined : jobs.at(-1) };
}

/** Fails and refunds in one statement, however many there are (docs/rules.md, ledger). */
async function failUnfinished(trx: Transaction, jobIds: string[]): Promise<Pick<JobRow, 'id' | 'organization_id'>[]> {
  const ofDocument = sql<boolean>`kind like 'document.%'`;
  const { rows } = await sql<Pick<JobRow, 'id' | 'organization_id' | 'kind' | 'credits'>>`
    with failed as (
      update job set workspace_id = null, document_id = null, status = 'failed', claimed_by = null, next_attempt_at = null,
        finished_at = clock_timestamp(), updated_at = clock_timestamp(),
        error_code = case when ${ofDocument} then 'document_missing' else 'workspace_missing' end,
        error_message = case when ${ofDocument} then ${new DocumentGone().message} else 'The workspace of this job was deleted.' end
      where id = any(${jobIds}) and status in ('queued', 'running')
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
    select id, organization_id, kind, credits from failed
  `.execute(trx);
  for (const { kind, credits } of rows) {
    addFact(trx, { what: 'job changed', kind, outcome: 'obsolete', seconds: undefined });
    addFact(trx, { what: 'credits refunded', purpose: 'job', credits });
  }
  return rows;
}
