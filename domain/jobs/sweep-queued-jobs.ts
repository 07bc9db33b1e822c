import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { addToOutbox, type OutboxMessage } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { runJobIntent } from './insert-job.ts';

/** A queued job is looked at again when the sweep has not seen to it for this long. */
const everySeconds = 60;

/**
 * Asks for the workflow of jobs that have been queued for a while: one whose workflow runs is not touched by it, one whose
 * workflow is gone goes on (design, sweepJobs). At most `limit` jobs, those seen to longest ago first.
 */
export async function sweepQueuedJobs(db: Db, { limit }: { limit: number }): Promise<OutboxMessage[]> {
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
            not(exists(selectFrom('outbox').select('outbox.id').where('outbox.workflow_id', '=', sql<string>`'job-' || waiting.id`))),
          )
          .orderBy(sql`coalesce(waiting.swept_at, waiting.created_at)`)
          .limit(limit)
          .forUpdate()
          .skipLocked(),
      )
      .returningAll()
      .execute();
    const messages: OutboxMessage[] = [];
    for (const job of jobs) messages.push(await addToOutbox(trx, runJobIntent(job)));
    return messages;
  });
}
