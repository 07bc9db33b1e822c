import { sql } from 'kysely';
import { startOrganizationDeletion, startWorkspaceDeletion } from '../../contract/intents/definitions.ts';
import type { Db } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';

/**
 * Starts the workflows of deletions that have not ended after ten minutes, in case they are lost; starting a running workflow changes
 * nothing. Takes at most `limit` organizations and workspaces each, the oldest first. Returns how many.
 */
export async function sweepDeletions(db: Db, limit: number): Promise<number> {
  return await inTransaction(db, async (trx) => {
    const isOld = sql<boolean>`created_at < now() - interval '10 minutes'`;
    const organizations = await trx
      .selectFrom('organization_deletion')
      .selectAll()
      .where(isOld)
      .orderBy('created_at')
      .limit(limit)
      .execute();
    const workspaces = await trx.selectFrom('workspace_deletion').selectAll().where(isOld).orderBy('created_at').limit(limit).execute();
    for (const { organization_id } of organizations) addToOutbox(trx, startOrganizationDeletion(organization_id));
    for (const { workspace_id: workspaceId, organization_id: organizationId } of workspaces) {
      addToOutbox(trx, startWorkspaceDeletion({ workspaceId, organizationId }));
    }
    return organizations.length + workspaces.length;
  });
}
