import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { tellJobCanceled, tellUploadEnded } from '../../workflows/definitions.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { releaseWorkspaceJobs, touchJobs } from '../jobs/release-workspace-jobs.ts';
import { lockOrganization, lockWorkspace } from '../locks.ts';
import { requestWorkspaceObjectDeletion } from '../objects/request-object-deletion.ts';
import { type WorkspaceRow, workspaceNotFound } from './workspace.ts';

/**
 * Removes a workspace with its documents and their chunks, and asks for the deletion of their objects (docs/rules.md, objects after rows). Its jobs stay,
 * without a workspace; those not finished fail and are refunded. Their workflows, and those that wait for its uploads, are told
 * to end. Throws NOT_FOUND where another was faster. Needs a bulk transaction.
 */
export async function deleteWorkspace(
  trx: Transaction,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<WorkspaceRow, 'id' | 'organization_id'>,
): Promise<void> {
  await lockOrganization(trx, organizationId);
  // Keeps out whatever would lock one of its documents, so that jobs may be written here before documents.
  const workspace = await lockWorkspace(trx, id, 'delete');
  if (!workspace) throw workspaceNotFound();
  await requestWorkspaceObjectDeletion(trx, workspace);
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
  for (const documentId of documents.pending) addToOutbox(trx, tellUploadEnded(documentId));
  for (const jobId of failedJobs) addToOutbox(trx, tellJobCanceled(jobId));
  await touchJobs(trx, failedJobs);
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
