import type { Db } from '../../db/connect.ts';
import type { WorkspaceRow } from './get-workspace.ts';

/** Every workspace of an organization, by name. */
export async function listWorkspaces(db: Db, organizationId: string): Promise<WorkspaceRow[]> {
  return db.selectFrom('workspace').selectAll().where('organization_id', '=', organizationId).orderBy('name').orderBy('id').execute();
}
