import { sql } from 'kysely';
import { anyOf } from '../../db/batched-read.ts';
import { longestTransactionMs } from '../../db/bounds.ts';
import type { Db } from '../../db/connect.ts';
import { rowBytes } from '../page.ts';
import { headColumns, inputBytes, type JobRow, presentWorkspaceId, resultBytes } from './job.ts';

/** A change of a job: its position in the order of changes, and a state that distinguishes it from other changes at the same moment. */
export interface JobChange {
  id: string;
  at: Date;
  state: string;
  /** The approximate size of its event. */
  bytes: number;
}

/** A job for the event of a stream. Its input and result are empty until it is final. `changedAt`: its position in the order of changes. */
export type ChangedJob = JobRow & { bytes: number; changedAt: Date };

/** Covers the duration of a commit, and the difference between the clocks of the service and the database. */
const marginMs = 5_000;
const changesPerRead = 1_000;
const jobsPerRead = 200;
const bytesPerRead = 256 * 1024;

/**
 * The time from which to read so that no change after `since` is missed: earlier by the longest permitted transaction (docs/rules.md,
 * notifications may be lost).
 */
export function replayStart(since: Date, transactionMs: number = longestTransactionMs): Date {
  return new Date(since.getTime() - transactionMs - marginMs);
}

/** A key that distinguishes the states that a job had at the same moment. */
export function stateOf({ status, attempts, workspace_id }: Pick<JobRow, 'status' | 'attempts' | 'workspace_id'>): string {
  return `${status} ${attempts} ${workspace_id}`;
}

/** Reads the changes of an organization for which `isNew` returns true, in batches of jobs. */
export type ReadChanges = (organizationId: string, since: Date, isNew: (change: JobChange) => boolean) => AsyncIterable<ChangedJob[]>;

/** The one query of streams: every change since a moment, including those that were committed late, the oldest first. */
export function createChangeReader(db: Db): ReadChanges {
  return async function* (organizationId, since, isNew) {
    let from: Date | JobChange | undefined = replayStart(since);
    while (from !== undefined) {
      const { changes, more }: Awaited<ReturnType<typeof listChanges>> = await listChanges(db, organizationId, from);
      yield* readChangedJobs(db, changes.filter(isNew));
      from = more ? changes.at(-1) : undefined;
    }
  };
}

/** An organization's changes since a moment or after another change, the oldest first, at most a thousand. `more`: there may be others. */
export async function listChanges(
  db: Db,
  organizationId: string,
  from: Date | JobChange,
): Promise<{ changes: JobChange[]; more: boolean }> {
  const isLater = from instanceof Date ? sql<boolean>`updated_at >= ${from}` : sql<boolean>`(updated_at, id) > (${from.at}, ${from.id})`;
  const rows = await db
    .selectFrom('job')
    .select(['id', 'updated_at as at', 'status', 'attempts', presentWorkspaceId.as('workspace_id'), eventBytes.as('bytes')])
    .where('organization_id', '=', organizationId)
    .where(isLater)
    .orderBy('updated_at')
    .orderBy('id')
    .limit(changesPerRead)
    .execute();
  const changes = rows.map((row) => ({ id: row.id, at: row.at, state: stateOf(row), bytes: row.bytes }));
  return { changes, more: rows.length === changesPerRead };
}

/**
 * Reads the jobs of changes in their order, at most 200 or 256 KiB at a time, unless a single job is larger. Leaves out deleted jobs, and
 * those that have changed again since: a later change reports them, and they may have become large.
 */
export async function* readChangedJobs(db: Db, changes: JobChange[]): AsyncGenerator<ChangedJob[]> {
  for (const part of inParts(changes)) {
    const latest = part.at(-1)?.at ?? new Date(0);
    const ids = part.map(({ id }) => id);
    const read = await selectContents(db, ids).where('updated_at', '<=', latest).execute();
    const byId = new Map(read.map((job) => [job.id, job]));
    yield part.flatMap(({ id, at, bytes }) => {
      const job = byId.get(id);
      return job ? [{ ...job, bytes, changedAt: at }] : [];
    });
  }
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

const isFinished = sql`finished_at is not null`;
const eventBytes = sql<number>`${sql.lit(rowBytes)} + case when ${isFinished} then ${inputBytes} + ${resultBytes} else 0 end`;

function* inParts(changes: JobChange[]): Generator<JobChange[]> {
  let part: JobChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    if (part.length === jobsPerRead || (part.length > 0 && bytes + change.bytes > bytesPerRead)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(change);
    bytes += change.bytes;
  }
  if (part.length > 0) yield part;
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
