import type { Transaction } from '../../db/connect.ts';
import type { Actor } from '../actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { GetPlan } from '../billing/plan.ts';
import { lockOrganization } from '../locks.ts';
import { insertJob } from './insert-job.ts';
import type { JobRow } from './job-row.ts';
import { type CreateJobInput, type JobScope, keepJobScope } from './job-scope.ts';

/**
 * Charges and queues a job. Throws PRECONDITION_FAILED while the document's upload is unfinished, NOT_FOUND or
 * FORBIDDEN for a workspace that is not the organization's, LIMIT_REACHED without credits.
 */
export async function createJob(trx: Transaction, getPlan: GetPlan, actor: Actor, scope: JobScope, input: CreateJobInput): Promise<JobRow> {
  await lockOrganization(trx, scope.organizationId);
  await keepJobScope(trx, scope);
  const plan = await getPlan(trx, scope.organizationId);
  const { kind, maxAttempts } = input;
  const job = await insertJob(
    trx,
    { ...scope, kind, maxAttempts, input: inputOf(input), createdBy: actor.userId },
    plan && { plan: plan.plan, aiCredits: plan.limits.aiCredits },
  );
  await recordAudit(trx, actor, {
    organizationId: scope.organizationId,
    action: 'job.create',
    targetType: 'job',
    targetId: job.id,
    metadata: { kind, credits: job.credits, documentId: scope.documentId },
  });
  return job;
}

/** The fields of the kind itself, as the job shows them again. */
function inputOf(input: CreateJobInput): Record<string, unknown> {
  switch (input.kind) {
    case 'document.extract':
    case 'document.index':
      return { documentId: input.documentId };
    case 'document.summarize':
      return { documentId: input.documentId, maxSentences: input.maxSentences };
    case 'text.summarize':
      return { text: input.text, maxSentences: input.maxSentences };
    case 'text.embed':
      return { texts: input.texts };
  }
}
