import { type Selectable, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import { anyOf, batchedRead } from '../../db/batched-read.ts';
import type { Db } from '../../db/connect.ts';
import type { WorkspaceTable } from '../../db/schema.ts';
import type { Admit } from '../page.ts';

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

/** Whether a workspace has not been deleted; its rows may be there for longer. */
export async function isWorkspaceThere(db: Db, workspaceId: string): Promise<boolean> {
  return (await db.selectFrom('workspace').select('id').where('id', '=', workspaceId).executeTakeFirst()) !== undefined;
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

/** So many make a small response, whatever they are named. */
const few = 100;
/** What a workspace takes up in a list besides its name and slug, in bytes: generous. */
const otherBytes = 256;

/**
 * Every workspace of an organization, by name. `admit` waits until a large response may be read; it is told of the size in bytes. How many
 * there may be is bounded where they are created.
 */
export async function listWorkspaces(db: Db, organizationId: string, admit: Admit): Promise<WorkspaceRow[]> {
  const ofOrganization = db.selectFrom('workspace').where('organization_id', '=', organizationId);
  const inOrder = ofOrganization.selectAll().orderBy('name').orderBy('id');
  const first = await inOrder.limit(few + 1).execute();
  if (first.length <= few) return first;
  const { bytes } = await ofOrganization
    .select(sql<number>`sum(octet_length(to_json(name)::text) + octet_length(slug) + ${otherBytes}::int)`.as('bytes'))
    .executeTakeFirstOrThrow();
  await admit(bytes);
  return inOrder.execute();
}
