import { type RawBuilder, sql } from 'kysely';
import { pause } from '../../base/concurrency/pause.ts';
import { workflowIds } from '../../contract/intents/definitions.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { GetPlan } from '../billing/plan.ts';
import { lockJob } from '../locks.ts';
import { releaseWaiting } from '../outages/release-waiting.ts';
import { type StartedJob, startOf } from './create-job.ts';
import type { JobHead } from './job.ts';
import { failJob } from './settle-attempt.ts';
import { transitionJob } from './transition-job.ts';

/** The next sweep comes in a minute, so this one waits no longer than this for a lock. */
const lockMs = 1_000;

/** Whether the attempt of a job has run for more than twice the timeout, counted from the last stage that it stored, if any. */
export function isPresumedLost(timeoutMs: number): RawBuilder<boolean> {
  const longAgo = sql`now() - make_interval(secs => ${(2 * timeoutMs) / 1_000})`;
  return sql`status = 'running' and started_at < ${longAgo} and (stages is null or updated_at < ${longAgo})`;
}

const lost = { code: 'worker_lost', message: 'The worker was lost during the attempt.' };

/**
 * Takes back at most `limit` jobs whose attempt is presumed lost (docs/rules.md, job states): they are queued again, or fail and are
 * refunded if no attempts are left. One job in each transaction; `onFailure` gets the id and error of a job that fails, for example because
 * its lock is held. The sweep then goes on with jobs of other organizations.
 */
export async function sweepLostAttempts(
  db: Db,
  { timeoutMs, limit, onFailure }: { timeoutMs: number; limit: number; onFailure: (jobId: string, error: unknown) => void },
): Promise<{ requeued: number; failed: number }> {
  const stale = await db
    .selectFrom('job')
    .select(['id', 'claimed_by', 'organization_id', 'updated_at'])
    .where(isPresumedLost(timeoutMs))
    .orderBy('started_at')
    .limit(limit)
    .execute();
  const swept = { requeued: 0, failed: 0 };
  const blocked = new Set<string>();
  for (const attempt of stale) {
    if (blocked.has(attempt.organization_id)) continue;
    try {
      const outcome = await inTransaction(db, (trx) => takeBack(trx, attempt));
      if (outcome) swept[outcome]++;
    } catch (error) {
      blocked.add(attempt.organization_id);
      onFailure(attempt.id, error);
    }
  }
  return swept;
}

type LostAttempt = Pick<JobHead, 'id' | 'claimed_by' | 'updated_at'>;

async function takeBack(trx: Transaction, lostOne: LostAttempt): Promise<'requeued' | 'failed' | undefined> {
  await sql`set local lock_timeout = ${sql.lit(lockMs)}`.execute(trx);
  const job = await lockJob(trx, lostOne.id);
  // Compares the name, since an uncounted attempt passes its number on to the next one.
  if (job?.status !== 'running' || job.claimed_by !== lostOne.claimed_by) return undefined;
  // It has stored a stage since.
  if (job.updated_at.getTime() !== lostOne.updated_at.getTime()) return undefined;
  const { id, attempts, max_attempts: maxAttempts } = job;
  if (attempts >= maxAttempts) {
    await failJob(trx, job, lost);
    return 'failed';
  }
  const queued = await transitionJob(trx, { jobId: id, from: 'running', attempts, to: 'queued', error: lost, delayMs: 0 });
  if (!queued) return undefined;
  addToOutbox(trx, startOf(queued));
  return 'requeued';
}

/** The maximum number of intents that may wait for the relay before the sweep adds more. */
const maxWaiting = 2_000;
const waitMs = 250;

/**
 * Calls {@link sweepQueuedJobs} batch by batch until no job is left or the signal aborts, no faster than Temporal takes the intents, so
 * that the outbox stays short. Returns how many.
 */
export async function sweepAllQueuedJobs(
  db: Db,
  { signal, ...batch }: { limit: number; getPlan: GetPlan; signal: AbortSignal },
): Promise<number> {
  return await inBatches(db, { signal, limit: batch.limit }, async () => (await sweepQueuedJobs(db, batch)).length);
}

/** Wakes the jobs whose outage is over, in the same way. Returns how many. */
export async function releaseAllWaiting(db: Db, bounds: { limit: number; signal: AbortSignal }): Promise<number> {
  return await inBatches(db, bounds, () => inTransaction(db, (trx) => releaseWaiting(trx, { limit: bounds.limit })));
}

async function inBatches(db: Db, { limit, signal }: { limit: number; signal: AbortSignal }, next: () => Promise<number>): Promise<number> {
  for (let done = 0; ; ) {
    while (!signal.aborted && (await isFull(db))) await pause(waitMs, signal);
    if (signal.aborted) return done;
    const count = await next();
    done += count;
    if (count < limit) return done;
  }
}

async function isFull(db: Db): Promise<boolean> {
  const { rows } = await sql`select from outbox offset ${maxWaiting} limit 1`.execute(db);
  return rows.length > 0;
}

/** The sweep looks at a queued job again after this long. */
const everySeconds = 60;

/**
 * Starts the workflows of jobs that have been queued for a while, in case they are gone; starting a running workflow changes nothing. Takes
 * at most `limit` jobs, the longest unseen ones first. Returns their ids.
 */
export async function sweepQueuedJobs(db: Db, { limit, getPlan }: { limit: number; getPlan: GetPlan }): Promise<string[]> {
  return inTransaction(db, async (trx) => {
    const { rows: jobs } = await sql<StartedJob>`
      update job set swept_at = clock_timestamp() where id in (
        select id from job as waiting
        where status = 'queued'
          and coalesce(swept_at, created_at) < now() - make_interval(secs => ${everySeconds})
          and (next_attempt_at is null or next_attempt_at < now() - make_interval(secs => ${everySeconds}))
          and not exists (select from outbox where workflow_id = ${workflowIds.runJob('')} || waiting.id)
        order by coalesce(swept_at, created_at) limit ${limit} for update skip locked
      )
      returning id, kind, max_attempts, organization_id, workspace_id, document_id
    `.execute(trx);
    for (const [organizationId, ofOne] of Map.groupBy(jobs, (job) => job.organization_id)) {
      const plan = await getPlan(trx, organizationId);
      for (const job of ofOne) addToOutbox(trx, startOf(job, { plan: plan?.plan }));
    }
    return jobs.map(({ id }) => id);
  });
}
