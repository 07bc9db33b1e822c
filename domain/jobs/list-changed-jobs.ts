import { type RawBuilder, sql } from 'kysely';
import { anyOf } from '../../db/batched-read.ts';
import { longestTransactionMs } from '../../db/bounds.ts';
import type { Db } from '../../db/connect.ts';
import { fitPage, readRows, rowBytes } from '../page.ts';
import { headColumns, inputBytes, type JobRow, resultBytes } from './job.ts';

/**
 * A job for the event of a stream. Its input and result are empty until it is final. `bytes`: about the size of the event. `changedAt`:
 * its place in the order of changes, which may be before `updated_at`, because the job can change again before its contents are read.
 */
export type ChangedJob = JobRow & { bytes: number; changedAt: Date };

/**
 * An organization's jobs by id, the oldest change first, as many as fit into `maxBytes` but at least one. Ids of other organizations are
 * left out. `left`: the ids that did not fit.
 */
export async function readJobsById(
  db: Db,
  organizationId: string,
  jobIds: string[],
  { maxBytes }: { maxBytes: number },
): Promise<{ jobs: ChangedJob[]; left: string[] }> {
  if (jobIds.length === 1) return { jobs: await readOne(db, organizationId, jobIds), left: [] };
  const { page, jobs } = await readBounded(db, sql`id = any(${jobIds}) and organization_id = ${organizationId}`, {
    limit: jobIds.length,
    maxBytes,
  });
  const fit = new Set(page.rows.map(({ id }) => id));
  return { jobs, left: page.more ? jobIds.filter((id) => !fit.has(id)) : [] };
}

/** One job always fits: its size need not be known before it is read. */
async function readOne(db: Db, organizationId: string, jobIds: string[]): Promise<ChangedJob[]> {
  const jobs = await selectContents(db, jobIds).select(eventBytes.as('bytes')).where('organization_id', '=', organizationId).execute();
  return jobs.map((job) => ({ ...job, changedAt: job.updated_at }));
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

/** Covers the duration of a commit, and the difference between the clocks of the service and the database. */
const marginMs = 5_000;

/**
 * Where a replay begins that misses nothing after `since`: earlier by the longest permitted transaction (docs/rules.md, notifications may
 * be lost).
 */
export function replayStart(since: Date, transactionMs: number = longestTransactionMs): Date {
  return new Date(since.getTime() - transactionMs - marginMs);
}

/** A place in the order of changes. */
export interface ChangePosition {
  id: string;
  at: Date;
}

export interface ChangedPage {
  jobs: ChangedJob[];
  /** Where the page ends; undefined if it is empty. A job that changes while it is read may be of a later time. */
  end: ChangePosition | undefined;
  /** Whether there are changes after it. */
  more: boolean;
}

/**
 * A page of an organization's jobs that changed at a moment or later, or after the end of a page, the oldest change first. It ends after 200 jobs
 * or `maxBytes`, and holds at least one. `admit` is called with its size in bytes before the contents are read.
 */
export async function readChangedJobs(
  db: Db,
  organizationId: string,
  from: Date | ChangePosition,
  { maxBytes, admit }: { maxBytes: number; admit?: Admit },
): Promise<ChangedPage> {
  const isLater = from instanceof Date ? sql`updated_at >= ${from}` : sql`(updated_at, id) > (${from.at}, ${from.id})`;
  const { page, jobs } = await readBounded(db, sql`organization_id = ${organizationId} and ${isLater}`, {
    limit: pageSize,
    maxBytes,
    admit,
  });
  return { jobs, end: page.rows.at(-1), more: page.more };
}

const pageSize = 200;
const isFinished = sql`finished_at is not null`;
const eventBytes = sql<number>`${sql.lit(rowBytes)} + case when ${isFinished} then ${inputBytes} + ${resultBytes} else 0 end`;

type Admit = (bytes: number) => Promise<void>;

async function readBounded(
  db: Db,
  where: RawBuilder<unknown>,
  { admit, ...bounds }: { limit: number; maxBytes: number; admit?: Admit | undefined },
) {
  const sized = sql`
    select id, updated_at as at, ${eventBytes} as bytes from job where ${where} order by updated_at, id limit ${bounds.limit + 1}
  `;
  const page = await fitPage(db, sized, { ...bounds, order: 'asc' });
  await admit?.(page.bytes);
  const jobs = await readRows(page, (ids) => selectContents(db, ids).execute());
  const rows = new Map(page.rows.map((row) => [row.id, row]));
  const toChanged = (job: JobRow): ChangedJob => {
    const { bytes = rowBytes, at = job.updated_at } = rows.get(job.id) ?? {};
    return { ...job, bytes, changedAt: at };
  };
  return { page, jobs: jobs.map(toChanged) };
}

/** Jobs by id, as their events show them. */
function selectContents(db: Db, ids: string[]) {
  return db
    .selectFrom('job')
    .select(headColumns)
    .select(sql<JobRow['input']>`case when ${isFinished} then input else '{}' end`.as('input'))
    .select(sql<JobRow['result']>`case when ${isFinished} then result end`.as('result'))
    .where('id', '=', anyOf(ids));
}
