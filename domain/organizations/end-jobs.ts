import type { Db } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { tellJobCanceled } from '../../workflows/definitions.ts';
import { failJob } from '../jobs/settle-attempt.ts';
import { lockUnfinishedJobs } from '../locks.ts';

const organizationDeleted = { code: 'organization_deleted', message: 'The organization was deleted.' };

/**
 * Ends a batch of an organization's unfinished jobs, because it is being deleted, and tells their workflows. A running attempt
 * finds its job final and stores nothing. Returns how many it ended: 0 once none is left.
 */
export async function endOrganizationJobs(db: Db, organizationId: string, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const jobs = await lockUnfinishedJobs(trx, organizationId, limit);
    for (const job of jobs) {
      await failJob(trx, job, organizationDeleted);
      addToOutbox(trx, tellJobCanceled(job.id));
    }
    return jobs.length;
  });
}
