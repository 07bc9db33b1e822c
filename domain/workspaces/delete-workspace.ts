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
 * Deletes a workspace with its documents and their chunks, and requests the deletion of their objects (docs/rules.md, objects after rows).
 * Its jobs stay, without a workspace; the unfinished ones fail and are refunded. Signals their workflows, and those of its uploads, to end.
 * Throws NOT_FOUND if it is gone. Needs a bulk transaction.
 */
export async function deleteWorkspace(
  trx: Transaction,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<WorkspaceRow, 'id' | 'organization_id'>,
): Promise<void> {
  await lockOrganization(trx, organizationId);
  // Nobody can lock one of its documents now, so jobs may be written before documents here (docs/rules.md, lock order).
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
  for (const documentId of documents.pending) addToOutbox(trx, tellUploadEnded({ documentId, organizationId, workspaceId: id }));
  for (const jobId of failedJobs) addToOutbox(trx, tellJobCanceled(jobId));
  await touchJobs(trx, failedJobs);
}

/** Deletes the chunks first, in one statement: a cascade would look for the chunks of each document. */
async function deleteDocuments(trx: Transaction, workspaceId: string): Promise<{ count: number; pending: string[] }> {
  await trx.deleteFrom('chunk').where('workspace_id', '=', workspaceId).execute();
  const { rows } = await sql<{ count: number; pending: string[] }>`
    with deleted as (delete from document where workspace_id = ${workspaceId} returning id, status)
    select count(*) as count, coalesce(array_agg(id) filter (where status = 'pending'), '{}') as pending from deleted
  `.execute(trx);
  return rows[0] ?? { count: 0, pending: [] };
}
