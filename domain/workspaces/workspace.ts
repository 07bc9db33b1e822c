import type { Selectable } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import { anyOf, batchedRead } from '../../db/batched-read.ts';
import type { Db } from '../../db/connect.ts';
import type { WorkspaceTable } from '../../db/schema.ts';

/** A workspace as the database holds it. */
export type WorkspaceRow = Selectable<WorkspaceTable>;

const findWorkspace = batchedRead(
  (db, ids): Promise<WorkspaceRow[]> => db.selectFrom('workspace').selectAll().where('id', '=', anyOf(ids)).execute(),
  ({ id }) => id,
);

/** The workspace, whichever organization it belongs to: the caller authorizes by the row. Throws NOT_FOUND. */
export async function getWorkspace(db: Db, workspaceId: string): Promise<WorkspaceRow> {
  const workspace = await findWorkspace(db, workspaceId);
  if (!workspace) throw workspaceNotFound();
  return workspace;
}

/** Whether a workspace is not deleted. Its contents may exist longer. */
export async function isWorkspaceThere(db: Db, workspaceId: string): Promise<boolean> {
  return (await db.selectFrom('workspace').select('id').where('id', '=', workspaceId).executeTakeFirst()) !== undefined;
}

/** The request to delete a workspace, until it is drained; undefined if there is none. */
export async function findWorkspaceDeletion(db: Db, id: string): Promise<{ workspaceId: string; organizationId: string } | undefined> {
  return await db
    .selectFrom('workspace_deletion')
    .select(['workspace_id as workspaceId', 'organization_id as organizationId'])
    .where('workspace_id', '=', id)
    .executeTakeFirst();
}

/** The slugs of a workspace and its organization, of which addresses in the console are made. Throws NOT_FOUND. */
export async function readWorkspaceSlugs(db: Db, workspaceId: string): Promise<{ organization: string; workspace: string }> {
  const slugs = await db
    .selectFrom('workspace')
    .innerJoin('organization', 'organization.id', 'workspace.organization_id')
    .select(['organization.slug as organization', 'workspace.slug as workspace'])
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirst();
  if (!slugs) throw workspaceNotFound();
  return slugs;
}

/** The workspace of an organization with this slug. Throws NOT_FOUND. */
export async function getWorkspaceBySlug(db: Db, organizationId: string, slug: string): Promise<WorkspaceRow> {
  const workspace = await db
    .selectFrom('workspace')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('slug', '=', slug)
    .executeTakeFirst();
  if (!workspace) throw workspaceNotFound();
  return workspace;
}

export function workspaceNotFound(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'Workspace not found.' });
}

/** Every workspace of an organization, by name. Their number is bounded at creation. */
export async function listWorkspaces(db: Db, organizationId: string): Promise<WorkspaceRow[]> {
  return await db.selectFrom('workspace').selectAll().where('organization_id', '=', organizationId).orderBy('name').orderBy('id').execute();
}
