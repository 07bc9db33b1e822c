import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox, type OutboxMessage } from '../../db/outbox.ts';
import type { Actor } from '../actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { refundJob } from '../credits/refund-job.ts';
import type { JobRow } from './job-row.ts';
import { transitionJob } from './transition-job.ts';
import { jobWorkflowId } from './workflow-id.ts';

/** Cancels a queued job, between two attempts too, and refunds it (spec §3). Throws CONFLICT when a worker was faster. */
export async function cancelJob(trx: Transaction, actor: Actor, jobId: string): Promise<{ job: JobRow; message: OutboxMessage }> {
  const job = await transitionJob(trx, { jobId, from: 'queued', to: 'canceled' });
  if (!job) throw new ApiError('CONFLICT', { message: 'The job is no longer queued.' });
  await refundJob(trx, job, 'canceled');
  await recordAudit(trx, actor, {
    organizationId: job.organization_id,
    action: 'job.cancel',
    targetType: 'job',
    targetId: job.id,
    metadata: { kind: job.kind },
  });
  const message = await addToOutbox(trx, { operation: 'signal', workflowId: jobWorkflowId(job.id), signal: 'jobCanceled' });
  return { job, message };
}
