import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { ReplayFilter, ReplayInput } from '../../contract/intents/inputs.ts';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordAudit, systemActor } from '../audit.ts';
import type { GetPlan } from '../billing/plan.ts';
import { deriveId } from '../ids.ts';
import { lockOrganization } from '../locks.ts';
import { isSuspended, refuseSuspended } from '../organizations/suspension.ts';
import { getJob } from './job.ts';
import { isRetryable, retryJob } from './retry-job.ts';

/** Writes that an operator asks for a replay; the workflow with this id finds the row. */
export async function requestReplay(db: Db, { id, input }: { id: string; input: ReplayInput }): Promise<void> {
  await db
    .insertInto('job_replay')
    .values({ id, input: JSON.stringify(input) })
    .execute();
}

/** Whether a run, or the run that it continues, is that of a replay which was asked for. */
export async function isRequestedReplay(db: Db, replayRun: string): Promise<boolean> {
  return (await db.selectFrom('job_replay').select('id').where('run', '=', replayRun).executeTakeFirst()) !== undefined;
}

/** Counts the jobs that a replay would retry, up to its limit. */
export async function countReplayable(db: Db, filter: ReplayFilter, limit: number): Promise<number> {
  const matching = selectReplayable(db, filter).limit(limit).as('matching');
  const { count } = await db
    .selectFrom(matching)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * A page of the ids of failed jobs that match a replay's filter and have not been retried, oldest first. Leaves out jobs that were made
 * since `replayRun` was requested: replays would otherwise retry their own failed retries, or each other's, without end.
 */
export async function listReplayable(
  db: Db,
  filter: ReplayFilter,
  { replayRun, after, limit }: { replayRun?: string | undefined; after: string | null; limit: number },
): Promise<string[]> {
  let query = selectReplayable(db, filter).orderBy('id').limit(limit);
  if (replayRun !== undefined) {
    const asked = db.selectFrom('job_replay').select('created_at').where('run', '=', replayRun);
    query = query.where('created_at', '<', sql<Date>`coalesce(${asked}, 'infinity')`);
  }
  if (after !== null) query = query.where('id', '>', after);
  return (await query.execute()).map(({ id }) => id);
}

/**
 * The failed jobs that match a filter, have not been retried, and can be. The others, whose document or workspace is gone or whose
 * organization is suspended, would use up the limit of every replay.
 */
function selectReplayable(db: Db, filter: ReplayFilter) {
  let query = db
    .selectFrom('job')
    .select('id')
    .where('status', '=', 'failed')
    .where(isRetryable)
    .where(sql<boolean>`not ${isSuspended}`)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('job as retry').select('retry.id').whereRef('retry.retry_of', '=', 'job.id'))),
    );
  if (filter.organizationId !== undefined) query = query.where('organization_id', '=', filter.organizationId);
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  if (filter.errorCode !== undefined) query = query.where('error_code', '=', filter.errorCode);
  if (filter.from !== undefined) query = query.where('finished_at', '>=', new Date(filter.from));
  if (filter.to !== undefined) query = query.where('finished_at', '<', new Date(filter.to));
  return query;
}

/**
 * Begins a replay that was asked for, by the id of its workflow: binds it to its first run, and writes the audit entry, before anything is
 * retried. A second call for the same run changes nothing. Returns false, and does nothing, if nobody asked for this input, or its workflow
 * did not begin within an hour: a request must not stay a permission if Temporal never heard of it.
 */
export async function beginReplay(
  db: Db,
  { id, replayRun, input }: { id: string; replayRun: string; input: ReplayInput },
): Promise<boolean> {
  const { progress: _, ...metadata } = input;
  const event = {
    id: deriveId(`job.replay ${replayRun}`),
    organizationId: input.organizationId ?? null,
    action: 'job.replay',
    targetType: 'replay',
    targetId: replayRun,
    metadata,
  };
  return await inTransaction(db, async (trx) => {
    const begun = await trx
      .updateTable('job_replay')
      .set({ run: replayRun })
      .where('id', '=', id)
      .where('input', '=', sql<never>`${JSON.stringify(input)}::jsonb`)
      .where(({ eb, or, and }) =>
        or([and([eb('run', 'is', null), eb('created_at', '>', sql<Date>`now() - interval '1 hour'`)]), eb('run', '=', replayRun)]),
      )
      .returning('id')
      .executeTakeFirst();
    if (!begun) return false;
    await recordAudit(trx, { ...systemActor, email: input.requestedBy ?? null }, event);
    return true;
  });
}

/** `reason`: the code of the error, or `already_retried`. */
type Replay = { retried: true } | { retried: false; reason: string };

/**
 * Retries one failed job for a replay, as `jobs.retry` does: a new job, charged again. A job that was retried since it was listed, by a
 * member, another replay or an earlier attempt of this one, is not retried again.
 */
export async function replayJob(db: Db, getPlan: GetPlan, jobId: string, replayRun: string): Promise<Replay> {
  try {
    const original = await getJob(db, jobId);
    return await inTransaction(db, async (trx) => {
      await lockOrganization(trx, original.organization_id);
      await refuseSuspended(trx, original.organization_id);
      const retry = await trx.selectFrom('job').select('id').where('retry_of', '=', jobId).limit(1).executeTakeFirst();
      if (retry) return { retried: false, reason: 'already_retried' };
      await retryJob(trx, getPlan, systemActor, original, replayRun);
      return { retried: true };
    });
  } catch (error) {
    if (error instanceof ApiError) return { retried: false, reason: error.code };
    throw error;
  }
}
