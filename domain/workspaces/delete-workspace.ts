import { sql } from 'kysely';
import { startWorkspaceDeletion } from '../../contract/intents/definitions.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { revokeWorkspaceKeys } from '../api-keys/revoke-api-key.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { refuseHeld } from '../holds/legal-hold.ts';
import { releaseWorkspaceJobs } from '../jobs/release-workspace-jobs.ts';
import { lockOrganization, lockWorkspace } from '../locks.ts';
import { type WorkspaceRow, workspaceNotFound } from './workspace.ts';

/** How many of its jobs are released in the request; the drain releases the others. */
const jobsAtOnce = 200;
/** The limit of the count of documents, which would otherwise take long. */
const maxCounted = 100_000;

/**
 * Deletes a workspace in a time that does not depend on its size: without its row, readers see none of its contents (docs/rules.md, gone at
 * once), which a workflow drains. The newest jobs are released here, so that those of a small workspace end with the request. Throws
 * NOT_FOUND if it is gone, LEGAL_HOLD if it is held.
 */
export async function deleteWorkspace(
  trx: Transaction,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<WorkspaceRow, 'id' | 'organization_id'>,
): Promise<void> {
  // Counts before the transaction takes locks.
  const documents = await countDocuments(trx, id);
  await lockOrganization(trx, organizationId);
  const workspace = await lockWorkspace(trx, id, 'delete');
  if (!workspace) throw workspaceNotFound();
  await refuseHeld(trx, organizationId, id);
  await revokeWorkspaceKeys(trx, actor, workspace);
  await trx
    .insertInto('workspace_deletion')
    .values({ workspace_id: id, organization_id: organizationId, requested_by: actor.userId })
    .execute();
  await trx.deleteFrom('workspace').where('id', '=', id).execute();
  const { failed } = await releaseWorkspaceJobs(trx, id, { limit: jobsAtOnce });
  await recordAudit(trx, actor, {
    organizationId,
    action: 'workspace.delete',
    targetId: id,
    metadata: { name: workspace.name, slug: workspace.slug, documents, bytes: workspace.used_bytes, failedJobs: failed },
  });
  addToOutbox(trx, startWorkspaceDeletion({ workspaceId: id, organizationId }));
}

async function countDocuments(trx: Transaction, workspaceId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from (select from document where workspace_id = ${workspaceId} limit ${maxCounted}) as counted
  `.execute(trx);
  return rows[0]?.count ?? 0;
}
