import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { type DocumentFilter, documentConditions } from './document-filter.ts';

/** Of no more documents a search is told the ids. Beyond, the database compares each document that it comes across. */
const mostNamed = 5_000;

/** The indexed documents of a workspace that a search is limited to. */
export interface DocumentScope {
  /** They, and how many chunks each has; undefined if they are many. */
  named: { id: string; chunks: number }[] | undefined;
  /** Whether a column holds the id of one of them, as a condition of a query. */
  includes(column: RawBuilder<unknown>): RawBuilder<boolean>;
}

/** Finds the documents that a search is limited to by its filter: by an index, if its conditions have one and are met by few. */
export async function findDocumentScope(db: Db, workspaceId: string, filter: DocumentFilter, most = mostNamed): Promise<DocumentScope> {
  const { rows } = await sql<{ id: string; chunks: number }>`
    select id, chunk_count as chunks from document
    where ${documentConditions(workspaceId, filter)} and chunk_count > 0 limit ${most + 1}
  `.execute(db);
  if (rows.length <= most) {
    const ids = rows.map(({ id }) => id);
    return { named: rows, includes: (column) => sql<boolean>`${column} = any(${ids}::text[])` };
  }
  const conditions = documentConditions(workspaceId, filter, 'scoped');
  return {
    named: undefined,
    includes: (column) => sql<boolean>`exists (select from document as scoped where scoped.id = ${column} and ${conditions})`,
  };
}
