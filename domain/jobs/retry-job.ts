import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import type { GetPlan } from '../billing/plan.ts';
import { lockOrganization } from '../locks.ts';
import { insertJob } from './create-job.ts';
import { getJob, type JobRow } from './job.ts';
import { keepJobScope, scopeOf } from './job-scope.ts';

/**
 * Queues a new job with the input of a failed one, charged again; the original stays failed. Throws CONFLICT for a
 * job that is not failed, NOT_FOUND where its document is gone, LIMIT_REACHED without credits.
 */
export async function retryJob(
  trx: Transaction,
  getPlan: GetPlan,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<JobRow, 'id' | 'organization_id'>,
  replayRun?: string,
): Promise<JobRow> {
  await lockOrganization(trx, organizationId);
  const original = await getJob(trx, id);
  if (original.status !== 'failed') throw new ApiError('CONFLICT', { message: 'Only a failed job can be retried.' });
  if (original.kind.startsWith('document.') && original.document_id === null) {
    throw new ApiError('NOT_FOUND', { message: 'The document of this job is gone.' });
  }
  await keepJobScope(trx, scopeOf(original));
  const plan = await getPlan(trx, organizationId);
  const retried = await insertJob(
    trx,
    {
      ...scopeOf(original),
      kind: original.kind,
      input: original.input,
      maxAttempts: original.max_attempts,
      createdBy: actor.userId,
      retryOf: original.id,
      ...(replayRun ? { replayRun } : {}),
    },
    plan && { plan: plan.plan, aiCredits: plan.limits.aiCredits },
  );
  await recordAudit(trx, actor, {
    organizationId: original.organization_id,
    action: 'job.retry',
    targetType: 'job',
    targetId: retried.id,
    metadata: { kind: original.kind, retryOf: original.id, ...(replayRun ? { replayRun } : {}) },
  });
  return retried;
}
