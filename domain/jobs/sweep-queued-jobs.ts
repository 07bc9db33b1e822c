import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { workflowIds } from '../../workflows/definitions.ts';
import { startOf } from './insert-job.ts';

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
