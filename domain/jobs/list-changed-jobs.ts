import { sql } from 'kysely';
import { longestTransactionMs } from '../../db/bounds.ts';
import type { Db } from '../../db/connect.ts';
import { type JobRow, selectJobs } from './job.ts';

/** Jobs by id, for the events of a stream. */
export async function listJobsById(db: Db, jobIds: string[]): Promise<JobRow[]> {
  return selectJobs(db).where('id', 'in', jobIds).orderBy('updated_at').execute();
}

/** Whether an organization has jobs that were in a workspace when it was deleted. */
export async function hasJobsOfFormerWorkspace(db: Db, organizationId: string, workspaceId: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select
      exists (select from job where former_workspace_id = ${workspaceId} and organization_id = ${organizationId})
      or exists (
        select from workspace_deletion join job using (workspace_id, organization_id)
        where workspace_id = ${workspaceId} and organization_id = ${organizationId}
      ) as found
  `.execute(db);
  return rows[0]?.found === true;
}

const pageSize = 200;
/** Covers the duration of a commit, and the difference between the clocks of the service and the database. */
const marginMs = 5_000;

/**
 * An organization's jobs that changed since a moment, oldest change first, read page by page. Begins earlier by the longest permitted
 * transaction (docs/rules.md, notifications may be lost): `transactionMs`, that of all pools if absent.
 */
export async function* readChangedJobs(
  db: Db,
  organizationId: string,
  since: Date,
  transactionMs: number = longestTransactionMs,
): AsyncGenerator<JobRow> {
  for (let after: JobRow | undefined; ; ) {
    const page: JobRow[] = await listPage(db, organizationId, after ?? new Date(since.getTime() - transactionMs - marginMs));
    yield* page;
    after = page.at(-1);
    if (page.length < pageSize) return;
  }
}

async function listPage(db: Db, organizationId: string, from: Date | JobRow): Promise<JobRow[]> {
  const query = selectJobs(db).where('organization_id', '=', organizationId).orderBy('updated_at').orderBy('id').limit(pageSize);
  if (from instanceof Date) return query.where('updated_at', '>=', from).execute();
  return query.where(sql<boolean>`(updated_at, id) > (${from.updated_at}, ${from.id})`).execute();
}
