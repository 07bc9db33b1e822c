import type { Db } from '../../db/connect.ts';
import { addToOutbox, type OutboxMessage } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { failJob } from '../jobs/settle-attempt.ts';
import { jobWorkflowId } from '../jobs/workflow-id.ts';

const organizationDeleted = { code: 'organization_deleted', message: 'The organization was deleted.' };

/**
 * Ends a batch of an organization's unfinished jobs, because it is being deleted, and tells their workflows. A running attempt
 * finds its job final and stores nothing. Answers no messages once none is left.
 */
export async function endOrganizationJobs(db: Db, organizationId: string, limit: number): Promise<OutboxMessage[]> {
  return inTransaction(db, async (trx) => {
    const jobs = await trx
      .selectFrom('job')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('status', 'in', ['queued', 'running'])
      .orderBy('id')
      .limit(limit)
      .forUpdate()
      .execute();
    const messages: OutboxMessage[] = [];
    for (const job of jobs) {
      await failJob(trx, job, organizationDeleted);
      messages.push(await addToOutbox(trx, { operation: 'signal', workflowId: jobWorkflowId(job.id), signal: 'jobCanceled' }));
    }
    return messages;
  });
}
