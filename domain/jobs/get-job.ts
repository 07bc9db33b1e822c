import { ApiError } from '../../contract/api-error.ts';
import { anyOf, batchedRead } from '../../db/batched-read.ts';
import type { Db } from '../../db/connect.ts';
import type { JobRow } from './job-row.ts';

/** The job, or undefined. */
export const findJob = batchedRead(
  (db, ids): Promise<JobRow[]> => db.selectFrom('job').selectAll().where('id', '=', anyOf(ids)).execute(),
  ({ id }) => id,
);

/** The job, whichever organization it belongs to: the caller authorizes by the row. Throws NOT_FOUND. */
export async function getJob(db: Db, jobId: string): Promise<JobRow> {
  const job = await findJob(db, jobId);
  if (!job) throw new ApiError('NOT_FOUND', { message: 'Job not found.' });
  return job;
}
