import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { startWorkspaceDeletion } from '../../workflows/definitions.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { releaseWorkspaceJobs } from '../jobs/release-workspace-jobs.ts';
import { lockOrganization, lockWorkspace } from '../locks.ts';
import { type WorkspaceRow, workspaceNotFound } from './workspace.ts';

/** How many of its jobs end in the request; the drain ends the others. */
const jobsAtOnce = 200;
/** A count of documents that would take longer stops here. */
const mostCounted = 100_000;

/**
 * Deletes a workspace, in a time that does not depend on what is in it: its row goes, and with it, for every reader, all that was in it
 * (docs/rules.md, gone at once). A workflow drains the rest. Its newest jobs are released here, so that those of a small workspace have ended
 * when the request has. Throws NOT_FOUND if it is gone.
 */
export async function deleteWorkspace(
  trx: Transaction,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<WorkspaceRow, 'id' | 'organization_id'>,
): Promise<void> {
  // Before the locks.
  const documents = await countDocuments(trx, id);
  await lockOrganization(trx, organizationId);
  const workspace = await lockWorkspace(trx, id, 'delete');
  if (!workspace) throw workspaceNotFound();
  await trx
    .insertInto('workspace_deletion')
    .values({ workspace_id: id, organization_id: organizationId, requested_by: actor.userId })
    .execute();
  await trx.deleteFrom('workspace').where('id', '=', id).execute();
  const { failed } = await releaseWorkspaceJobs(trx, id, { limit: jobsAtOnce });
  await recordAudit(trx, actor, {
    organizationId,
    action: 'workspace.delete',
    targetType: 'workspace',
    targetId: id,
    metadata: { name: workspace.name, slug: workspace.slug, documents, bytes: workspace.used_bytes, failedJobs: failed },
  });
  addToOutbox(trx, startWorkspaceDeletion({ workspaceId: id, organizationId }));
}

async function countDocuments(trx: Transaction, workspaceId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from (select from document where workspace_id = ${workspaceId} limit ${mostCounted}) as counted
  `.execute(trx);
  return rows[0]?.count ?? 0;
}
