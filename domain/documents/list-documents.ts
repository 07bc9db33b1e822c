import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Cursors } from '../cursor.ts';
import { type Page, toPage } from '../page.ts';
import type { DocumentRow } from './get-document.ts';

/** A page of a workspace's documents, newest first. */
export async function listDocuments(
  db: Db,
  cursors: Cursors,
  { workspaceId, limit, cursor }: { workspaceId: string; limit: number; cursor?: string | undefined },
): Promise<Page<DocumentRow>> {
  const scope = `documents:${workspaceId}`;
  const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
  let query = db
    .selectFrom('document')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1);
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`);
  return toPage(await query.execute(), limit, cursors, scope);
}
