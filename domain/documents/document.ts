import { type Selectable, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import { anyOf, batchedRead } from '../../db/batched-read.ts';
import type { Db } from '../../db/connect.ts';
import type { DocumentTable } from '../../db/schema.ts';
import { type Cursors, type Page, toPage } from '../page.ts';

/** A document as the database holds it. */
export type DocumentRow = Selectable<DocumentTable>;

/** The document, or undefined. */
export const findDocument = batchedRead(
  (db, ids): Promise<DocumentRow[]> => db.selectFrom('document').selectAll().where('id', '=', anyOf(ids)).execute(),
  ({ id }) => id,
);

/** The document, whichever organization it belongs to: the caller authorizes by the row. Throws NOT_FOUND. */
export async function getDocument(db: Db, documentId: string): Promise<DocumentRow> {
  const document = await findDocument(db, documentId);
  if (!document) throw documentNotFound();
  return document;
}

/**
 * The declared size of the organization's document, in bytes, or the measured one once it is complete. Undefined once the document is
 * deleted, although its object may exist a little longer.
 */
export async function findDeclaredBytes(db: Db, organizationId: string, documentId: string): Promise<number | undefined> {
  const document = await findDocument(db, documentId);
  return document?.organization_id === organizationId ? document.size_bytes : undefined;
}

export function documentNotFound(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'Document not found.' });
}

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

/** The document of a job no longer exists, so the job fails and is not tried again. */
export class DocumentGone extends Error {
  constructor() {
    super('The document no longer exists.');
    this.name = 'DocumentGone';
  }
}
