import type { z } from 'zod';
import { ApiError } from '../../contract/api-error.ts';
import type { contract } from '../../contract/index.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { OutboxMessage } from '../../db/outbox.ts';
import type { Actor } from '../actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { GetPlan } from '../billing/plan.ts';
import { getDocument } from '../documents/get-document.ts';
import { lockOrganization } from '../organizations/lock-organization.ts';
import { insertJob } from './insert-job.ts';
import type { JobRow } from './job-row.ts';
import { lockPlacement, type Placement } from './lock-placement.ts';

export type CreateJobInput = z.output<typeof contract.jobs.create.body>;

/**
 * Finds the organization and workspace of a job to be created, before authorization. For document kinds they come from the
 * document's row (spec §4). Throws NOT_FOUND for an absent document.
 */
export async function findPlacement(db: Db, input: CreateJobInput): Promise<Placement> {
  if ('documentId' in input) {
    const document = await getDocument(db, input.documentId);
    return { organizationId: document.organization_id, workspaceId: document.workspace_id, documentId: document.id };
  }
  return { organizationId: input.organizationId, workspaceId: input.workspaceId ?? null, documentId: null };
}

/**
 * Charges and queues a job (spec §3). Throws PRECONDITION_FAILED while the document's upload is unfinished, NOT_FOUND or
 * FORBIDDEN for a workspace that is not the organization's, LIMIT_REACHED without credits.
 */
export async function createJob(
  trx: Transaction,
  getPlan: GetPlan,
  actor: Actor,
  placement: Placement,
  input: CreateJobInput,
): Promise<{ job: JobRow; message: OutboxMessage }> {
  await lockOrganization(trx, placement.organizationId);
  await checkPlacement(trx, placement);
  const plan = await getPlan(trx, placement.organizationId);
  const { kind, maxAttempts } = input;
  const created = await insertJob(
    trx,
    { ...placement, kind, maxAttempts, input: inputOf(input), createdBy: actor.userId },
    plan && { plan: plan.plan, aiCredits: plan.limits.aiCredits },
  );
  await recordAudit(trx, actor, {
    organizationId: placement.organizationId,
    action: 'job.create',
    targetType: 'job',
    targetId: created.job.id,
    metadata: { kind, credits: created.job.credits, documentId: placement.documentId },
  });
  return created;
}

async function checkPlacement(trx: Transaction, placement: Placement): Promise<void> {
  const { workspace, document } = await lockPlacement(trx, placement);
  if (workspace && workspace.organization_id !== placement.organizationId) throw new ApiError('FORBIDDEN');
  if (document && document.status !== 'ready') {
    throw new ApiError('PRECONDITION_FAILED', { message: 'The upload of this document is not complete.' });
  }
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
