import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import type { GetPlan } from '../billing/plan.ts';
import { lockOrganization } from '../locks.ts';
import { insertJob } from './create-job.ts';
import { getJob, type JobHead, type JobRow, readWhole } from './job.ts';
import { lockJobScope, scopeOf } from './job-scope.ts';

/**
 * Queues a new job with the input of a failed one, charged again; the original stays failed. Stages that are done are not repeated unless
 * the document was changed since, and a job of texts whose workspace is gone is retried without one. Throws CONFLICT if the original is not
 * failed, NOT_FOUND if its document is gone or it failed because its workspace was deleted, LIMIT_REACHED if the credits are used up.
 */
export async function retryJob(
  trx: Transaction,
  getPlan: GetPlan,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<JobRow, 'id' | 'organization_id'>,
  replayRun?: string,
): Promise<JobRow> {
  await lockOrganization(trx, organizationId);
  const found = await getJob(trx, id);
  checkRetryable(found);
  const original = await readWhole(trx, found);
  await lockJobScope(trx, scopeOf(original));
  const plan = await getPlan(trx, organizationId);
  const { kind, input, max_attempts: maxAttempts } = original;
  const copy = { ...scopeOf(original), kind, input, stages: await findStages(trx, original), maxAttempts };
  const retried = await insertJob(trx, { ...copy, createdBy: actor.userId, retryOf: id, replayRun }, plan, getPlan.prices);
  await recordAudit(trx, actor, {
    organizationId,
    action: 'job.retry',
    targetId: retried.id,
    metadata: { kind, retryOf: id, ...(replayRun ? { replayRun } : {}) },
  });
  return retried;
}

/** The code of a job that failed because its workspace was deleted. */
const workspaceMissing = 'workspace_missing';

/** Whether {@link checkRetryable} lets a failed job pass, as a condition of a query. `exists` would read every document. */
export const isRetryable = sql<boolean>`error_code is distinct from ${sql.lit(workspaceMissing)}
  and (kind not like 'document.%' or (select id from document where document.id = job.document_id) is not null)`;

function checkRetryable({ status, kind, document_id, error_code }: JobHead): void {
  if (status !== 'failed') throw new ApiError('CONFLICT', { message: 'Only a failed job can be retried.' });
  if (kind.startsWith('document.') && document_id === null) {
    throw new ApiError('NOT_FOUND', { message: 'The document of this job is gone.' });
  }
  if (error_code === workspaceMissing) throw new ApiError('NOT_FOUND', { message: 'The workspace of this job is gone.' });
}

/** The stages that need not be repeated: none if the document, or its text, was changed after the job ended. */
async function findStages(trx: Transaction, { document_id, stages, finished_at }: JobRow): Promise<JobRow['stages']> {
  if (!stages || document_id === null || finished_at === null) return null;
  const unchanged = trx.selectFrom('document').select('id').where('id', '=', document_id).where('updated_at', '<=', finished_at);
  return (await unchanged.executeTakeFirst()) ? stages : null;
}
