import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { workflowIds } from '../../workflows/definitions.ts';
import { lockJob } from '../locks.ts';
import { startOf } from './create-job.ts';
import { failJob } from './settle-attempt.ts';
import { transitionJob } from './transition-job.ts';

const lost = { code: 'worker_lost', message: 'The worker was lost during the attempt.' };

/**
 * Takes back jobs whose current attempt began more than twice the timeout ago: queued again, or failed and refunded
 * where the attempts are spent. One job in each transaction. At most `limit` jobs.
 */
export async function sweepLostAttempts(
  db: Db,
  { timeoutMs, limit }: { timeoutMs: number; limit: number },
): Promise<{ requeued: number; failed: number }> {
  const stale = await db
    .selectFrom('job')
    .select(['id', 'attempts'])
    .where('status', '=', 'running')
    .where('started_at', '<', sql<Date>`now() - make_interval(secs => ${(2 * timeoutMs) / 1_000})`)
    .orderBy('started_at')
    .limit(limit)
    .execute();
  const swept = { requeued: 0, failed: 0 };
  for (const { id, attempts } of stale) {
    const outcome = await inTransaction(db, async (trx) => {
      const job = await lockJob(trx, id);
      if (job?.status !== 'running' || job.attempts !== attempts) return undefined;
      if (job.attempts >= job.max_attempts) {
        await failJob(trx, job, lost);
        return 'failed';
      }
      const queued = await transitionJob(trx, { jobId: id, from: 'running', attempts, to: 'queued', error: lost, delayMs: 0 });
      if (!queued) return undefined;
      addToOutbox(trx, startOf(queued));
      return 'requeued';
    });
    if (outcome) swept[outcome]++;
  }
  return swept;
}

/** A queued job is looked at again when the sweep has not seen to it for this long. */
const everySeconds = 60;

/**
 * Asks for the workflow of jobs that have been queued for a while: one whose workflow runs is not touched by it, one whose
 * workflow is gone goes on. At most `limit` jobs, those seen to longest ago first. Returns their ids.
 */
export async function sweepQueuedJobs(db: Db, { limit }: { limit: number }): Promise<string[]> {
  return inTransaction(db, async (trx) => {
    const jobs = await trx
      .updateTable('job')
      .set({ swept_at: sql`clock_timestamp()` })
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('job as waiting')
          .select('waiting.id')
          .where('waiting.status', '=', 'queued')
          .where(sql<Date>`coalesce(waiting.swept_at, waiting.created_at)`, '<', sql<Date>`now() - make_interval(secs => ${everySeconds})`)
          .where(
            sql<boolean>`(waiting.next_attempt_at is null or waiting.next_attempt_at < now() - make_interval(secs => ${everySeconds}))`,
          )
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('outbox')
                  .select('outbox.id')
                  .where('outbox.workflow_id', '=', sql<string>`${workflowIds.runJob('')} || waiting.id`),
              ),
            ),
          )
          .orderBy(sql`coalesce(waiting.swept_at, waiting.created_at)`)
          .limit(limit)
          .forUpdate()
          .skipLocked(),
      )
      .returningAll()
      .execute();
    for (const job of jobs) addToOutbox(trx, startOf(job));
    return jobs.map(({ id }) => id);
  });
}
