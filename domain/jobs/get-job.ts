import { ApiError } from '../../contract/api-error.ts';
import type { Db } from '../../db/connect.ts';
import type { JobRow } from './job-row.ts';

export async function findJob(db: Db, jobId: string): Promise<JobRow | undefined> {
  return db.selectFrom('job').selectAll().where('id', '=', jobId).executeTakeFirst();
}

/** The job, whichever organization it belongs to: the caller authorizes by the row (spec §5.6). Throws NOT_FOUND. */
export async function getJob(db: Db, jobId: string): Promise<JobRow> {
  const job = await findJob(db, jobId);
  if (!job) throw new ApiError('NOT_FOUND', { message: 'Job not found.' });
  return job;
}
