import { ApiError } from '../../contract/api-error.ts';
import type { AutomaticJobKind } from '../../contract/fields.ts';
import { contract } from '../../contract/index.ts';
import type { Transaction } from '../../db/connect.ts';
import type { Actor } from '../audit.ts';
import type { GetPlan } from '../billing/plan.ts';
import type { DocumentRow } from '../documents/document.ts';
import { createJob } from './create-job.ts';
import { scopeOf } from './job-scope.ts';

/**
 * Queues the jobs of a workspace's `autoProcess`, in the transaction that makes an uploaded document ready. Skips those that exceed a
 * limit: the upload succeeds without them.
 */
export async function createAutomaticJobs(
  trx: Transaction,
  getPlan: GetPlan,
  actor: Actor,
  { id: documentId, organization_id, workspace_id }: Pick<DocumentRow, 'id' | 'organization_id' | 'workspace_id'>,
  kinds: AutomaticJobKind[],
): Promise<void> {
  const scope = scopeOf({ organization_id, workspace_id, document_id: documentId });
  for (const kind of kinds) {
    const input = contract.jobs.create.body.parse({ kind, documentId });
    await createJob(trx, getPlan, actor, scope, input).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === 'LIMIT_REACHED')) throw error;
    });
  }
}
