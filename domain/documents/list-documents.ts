import { sql } from 'kysely';
import type { DocumentSort } from '../../contract/documents.ts';
import type { Db } from '../../db/connect.ts';
import { type Cursors, cursorAfter, fitPage, maxPageBytes, type Page, readRows } from '../page.ts';
import { type DocumentRow, inWorkspace, readDocuments } from './document.ts';
import { type DocumentFilter, documentConditions } from './document-filter.ts';
import { isAfter, orderOf } from './document-order.ts';

/** The bytes of JSON that a document adds to a page besides its labels: its name has 200 characters. */
const otherBytes = 2_048;
/** The bytes of a page's confidence, with its comma. */
const confidenceBytes = 5;

interface DocumentList extends DocumentFilter {
  workspaceId: string;
  limit: number;
  cursor?: string | undefined;
  sort?: DocumentSort | undefined;
}

const newestFirst = '-createdAt';

/**
 * A page of a workspace's documents, newest first by default, that ends after `limit` documents or 4 MiB. Throws BAD_REQUEST for a cursor
 * of another list, workspace or order.
 */
export async function listDocuments(
  db: Db,
  cursors: Cursors,
  { workspaceId, limit, cursor, sort = newestFirst, ...filter }: DocumentList,
): Promise<Page<DocumentRow>> {
  const order = orderOf(sort);
  const direction = sql.raw(order.direction);
  const scope = `documents:${workspaceId}${sort === newestFirst ? '' : `:${sort}`}`;
  const sized = sql`
    select id, ${order.key} as at, ${sql.lit(otherBytes)} + label_bytes
      + ${sql.lit(confidenceBytes)} * coalesce(cardinality(extracted_ocr_confidence), 0)
      + coalesce(octet_length(extracted_notices::text), 0) as bytes from document
    where ${documentConditions(workspaceId, filter)} and ${inWorkspace}
      ${cursor === undefined ? sql`` : sql`and ${isAfter(order, cursors, scope, cursor)}`}
    order by ${order.key} ${direction}, id ${direction} limit ${limit + 1}
  `;
  const page = await fitPage(db, sized, { order: order.direction, limit, maxBytes: maxPageBytes });
  const items = await readRows(page, (ids) => readDocuments(db, ids));
  return { items, nextCursor: cursorAfter(page, cursors, scope) };
}
