import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { addToOutbox, type OutboxMessage } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { runJobIntent } from './insert-job.ts';
import { failJob } from './settle-attempt.ts';
import { transitionJob } from './transition-job.ts';

const lost = { code: 'worker_lost', message: 'The worker was lost during the attempt.' };

/**
 * Takes back jobs whose current attempt began more than twice the timeout ago (spec §3): queued again, or failed and refunded
 * where the attempts are spent. One job in each transaction. At most `limit` jobs.
 */
export async function sweepLostAttempts(
  db: Db,
  { timeoutMs, limit }: { timeoutMs: number; limit: number },
): Promise<{ requeued: number; failed: number; messages: OutboxMessage[] }> {
  const stale = await db
    .selectFrom('job')
    .select(['id', 'attempts'])
    .where('status', '=', 'running')
    .where('started_at', '<', sql<Date>`now() - make_interval(secs => ${(2 * timeoutMs) / 1_000})`)
    .orderBy('started_at')
    .limit(limit)
    .execute();
  const swept = { requeued: 0, failed: 0, messages: [] as OutboxMessage[] };
  for (const { id, attempts } of stale) {
    const message = await inTransaction(db, async (trx) => {
      const job = await trx.selectFrom('job').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
      if (job?.status !== 'running' || job.attempts !== attempts) return undefined;
      if (job.attempts >= job.max_attempts) {
        await failJob(trx, job, lost);
        return 'failed' as const;
      }
      const queued = await transitionJob(trx, { jobId: id, from: 'running', attempts, to: 'queued', error: lost, delayMs: 0 });
      return queued && addToOutbox(trx, runJobIntent(queued));
    });
    if (message === 'failed') swept.failed++;
    else if (message) {
      swept.requeued++;
      swept.messages.push(message);
    }
  }
  return swept;
}
