import { sql } from 'kysely';
import { addFact } from '../../db/add-fact.ts';
import type { Db } from '../../db/connect.ts';
import { findJob, type JobHead, type JobRow } from './job.ts';

/** The claimed job, or its present state if it could not be claimed; undefined if the row is gone. */
export type Claim = { claimed: true; job: JobRow } | { claimed: false; job: JobHead | undefined };

/**
 * Claims a queued job that is due for one attempt. `claimedBy` names the attempt ({@link nameAttempt}), so that the holder of the job is
 * known later; `attempts` of the row becomes its fencing token (docs/rules.md, fencing).
 */
export async function claimJob(db: Db, jobId: string, claimedBy: string): Promise<Claim> {
  const job = await db
    .updateTable('job')
    .set({
      status: 'running',
      attempts: sql`attempts + 1`,
      claimed_by: claimedBy,
      started_at: sql`clock_timestamp()`,
      next_attempt_at: null,
      updated_at: sql`clock_timestamp()`,
    })
    .where('id', '=', jobId)
    .where('status', '=', 'queued')
    // A run that was started or reset by hand comes early. Temporal's timers are not exact.
    .where(sql<boolean>`coalesce(next_attempt_at <= clock_timestamp() + interval '100 milliseconds', true)`)
    .returningAll()
    .executeTakeFirst();
  if (job) {
    addFact(db, { what: 'attempt begun', kind: job.kind });
    return { claimed: true, job };
  }
  return { claimed: false, job: await findJob(db, jobId) };
}

/** Whether the attempt that claimed the job is still the current one. */
export async function stillHolds(db: Db, job: Pick<JobRow, 'id' | 'attempts'>): Promise<boolean> {
  const current = await db
    .selectFrom('job')
    .select('id')
    .where('id', '=', job.id)
    .where('status', '=', 'running')
    .where('attempts', '=', job.attempts)
    .executeTakeFirst();
  return current !== undefined;
}
