import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { type Cursors, cursorAfter, fitPage, maxPageBytes, type Page, readRows } from '../page.ts';
import { type DocumentRow, inWorkspace, readDocuments } from './document.ts';
import { type DocumentFilter, documentConditions } from './document-filter.ts';

/** The bytes of JSON that a document adds to a page besides its labels: its name has 200 characters. */
const otherBytes = 2_048;
/** The bytes of a page's confidence, with its comma. */
const confidenceBytes = 5;

interface DocumentList extends DocumentFilter {
  workspaceId: string;
  limit: number;
  cursor?: string | undefined;
}

/**
 * A page of a workspace's documents, newest first, that ends after `limit` documents or 4 MiB. Throws BAD_REQUEST for a cursor of
 * another list or workspace.
 */
export async function listDocuments(
  db: Db,
  cursors: Cursors,
  { workspaceId, limit, cursor, ...filter }: DocumentList,
): Promise<Page<DocumentRow>> {
  const scope = `documents:${workspaceId}`;
  const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
  const sized = sql`
    select id, created_at as at, ${sql.lit(otherBytes)} + label_bytes
      + ${sql.lit(confidenceBytes)} * coalesce(cardinality(extracted_ocr_confidence), 0)
      + coalesce(octet_length(extracted_notices::text), 0) as bytes from document
    where ${documentConditions(workspaceId, filter)} and ${inWorkspace}
      ${after ? sql`and (created_at, id) < (${after.createdAt}, ${after.id})` : sql``}
    order by created_at desc, id desc limit ${limit + 1}
  `;
  const page = await fitPage(db, sized, { order: 'desc', limit, maxBytes: maxPageBytes });
  const items = await readRows(page, (ids) => readDocuments(db, ids));
  return { items, nextCursor: cursorAfter(page, cursors, scope) };
}
