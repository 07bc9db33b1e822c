import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { addSignalsToOutbox, type OutboxMessage } from '../../db/outbox.ts';
import type { Actor } from '../actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { uploadWorkflowId } from '../documents/upload-workflow-id.ts';
import { releaseWorkspaceJobs, touchJobs } from '../jobs/release-workspace-jobs.ts';
import { jobWorkflowId } from '../jobs/workflow-id.ts';
import { requestWorkspaceObjectDeletion } from '../objects/request-object-deletion.ts';
import { lockOrganization } from '../organizations/lock-organization.ts';
import { type WorkspaceRow, workspaceNotFound } from './get-workspace.ts';

/**
 * Removes a workspace with its documents and their chunks, and asks for the deletion of their objects (rule 6). Its jobs stay,
 * without a workspace; those not finished fail and are refunded. Their workflows, and those that wait for its uploads, are told
 * to end. Throws NOT_FOUND where another was faster. Needs a bulk transaction.
 */
export async function deleteWorkspace(
  trx: Transaction,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<WorkspaceRow, 'id' | 'organization_id'>,
): Promise<OutboxMessage[]> {
  await lockOrganization(trx, organizationId);
  const workspace = await lockForDeletion(trx, id);
  const objects = await requestWorkspaceObjectDeletion(trx, workspace);
  const failedJobs = await releaseWorkspaceJobs(trx, id);
  const documents = await deleteDocuments(trx, id);
  await trx.deleteFrom('workspace').where('id', '=', id).execute();
  await recordAudit(trx, actor, {
    organizationId,
    action: 'workspace.delete',
    targetType: 'workspace',
    targetId: id,
    metadata: {
      name: workspace.name,
      slug: workspace.slug,
      documents: documents.count,
      bytes: workspace.used_bytes,
      failedJobs: failedJobs.length,
    },
  });
  const messages = [
    ...(objects ? [objects] : []),
    ...(await addSignalsToOutbox(trx, documents.pending.map(uploadWorkflowId), 'uploadEnded')),
    ...(await addSignalsToOutbox(trx, failedJobs.map(jobWorkflowId), 'jobCanceled')),
  ];
  await touchJobs(trx, failedJobs);
  return messages;
}

/**
 * Keeps out whatever would lock one of the workspace's documents, since the lock order takes the workspace first; so jobs may be
 * written here before documents.
 */
async function lockForDeletion(trx: Transaction, workspaceId: string): Promise<WorkspaceRow> {
  const workspace = await trx.selectFrom('workspace').selectAll().where('id', '=', workspaceId).forUpdate().executeTakeFirst();
  if (!workspace) throw workspaceNotFound();
  return workspace;
}

/** Chunks go first, in one statement: by cascade each document would look for its own. */
async function deleteDocuments(trx: Transaction, workspaceId: string): Promise<{ count: number; pending: string[] }> {
  await trx.deleteFrom('chunk').where('workspace_id', '=', workspaceId).execute();
  const { rows } = await sql<{ count: number; pending: string[] }>`
    with deleted as (delete from document where workspace_id = ${workspaceId} returning id, status)
    select count(*) as count, coalesce(array_agg(id) filter (where status = 'pending'), '{}') as pending from deleted
  `.execute(trx);
  return rows[0] ?? { count: 0, pending: [] };
}
