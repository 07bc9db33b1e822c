import type { Selectable } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import { anyOf, batchedRead } from '../../db/batched-read.ts';
import type { Db } from '../../db/connect.ts';
import type { DocumentTable } from '../../db/schema.ts';

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

/** Whether the organization has the document: until it is deleted, though its object may stay a little longer. */
export async function hasDocument(db: Db, organizationId: string, documentId: string): Promise<boolean> {
  const document = await findDocument(db, documentId);
  return document?.organization_id === organizationId;
}

export function documentNotFound(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'Document not found.' });
}
