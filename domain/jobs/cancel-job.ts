import { ApiError } from '../../contract/api-error.ts';
import { signalJobCanceled } from '../../contract/intents/definitions.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { refundJob } from '../credits/ledger.ts';
import type { JobRow } from './job.ts';
import { transitionJob } from './transition-job.ts';

/** Cancels a queued job, including one that waits for its next attempt, and refunds it. Throws CONFLICT if it is no longer queued. */
export async function cancelJob(trx: Transaction, actor: Actor, jobId: string): Promise<JobRow> {
  const job = await transitionJob(trx, { jobId, from: 'queued', to: 'canceled' });
  if (!job) throw new ApiError('CONFLICT', { message: 'The job is no longer queued.' });
  await refundJob(trx, job, 'canceled');
  await recordAudit(trx, actor, {
    organizationId: job.organization_id,
    action: 'job.cancel',
    targetId: job.id,
    metadata: { kind: job.kind },
  });
  addToOutbox(trx, signalJobCanceled(job.id, job.organization_id));
  return job;
}
