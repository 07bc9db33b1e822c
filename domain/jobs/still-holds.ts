import type { Db } from '../../db/connect.ts';
import type { JobRow } from './job-row.ts';

/** Whether the attempt that claimed the job still is the current one (docs/rules.md, fencing). */
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
