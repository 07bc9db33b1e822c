import { sql } from 'kysely';
import { longestTransactionMs } from '../../db/bounds.ts';
import type { Db } from '../../db/connect.ts';
import type { JobRow } from './job.ts';

/** Jobs by id, for the events of a stream. */
export async function listJobsById(db: Db, jobIds: string[]): Promise<JobRow[]> {
  return db.selectFrom('job').selectAll().where('id', 'in', jobIds).orderBy('updated_at').execute();
}

/** Whether an organization has jobs that were in a workspace when it was deleted. */
export async function hasJobsOfFormerWorkspace(db: Db, organizationId: string, workspaceId: string): Promise<boolean> {
  const found = await db
    .selectFrom('job')
    .select('id')
    .where('former_workspace_id', '=', workspaceId)
    .where('organization_id', '=', organizationId)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
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
  const query = db
    .selectFrom('job')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('updated_at')
    .orderBy('id')
    .limit(pageSize);
  if (from instanceof Date) return query.where('updated_at', '>=', from).execute();
  return query.where(sql<boolean>`(updated_at, id) > (${from.updated_at}, ${from.id})`).execute();
}
