import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { type DocumentFilter, documentConditions } from './document-filter.ts';

/** The maximum number of documents whose ids a search gets. With more, the database compares each document that it finds. */
const maxNamed = 5_000;

/** The indexed documents of a workspace to which a search is limited. */
export interface DocumentScope {
  /** These documents with their numbers of chunks; undefined if there are more than the maximum. */
  named: { id: string; chunks: number }[] | undefined;
  /** A condition of a query: whether a column holds the id of one of these documents. */
  includes(column: RawBuilder<unknown>): RawBuilder<boolean>;
}

/** Finds the documents that match a search's filter. An index finds them if one of its conditions has an index and few match. */
export async function findDocumentScope(db: Db, workspaceId: string, filter: DocumentFilter, max = maxNamed): Promise<DocumentScope> {
  const { rows } = await sql<{ id: string; chunks: number }>`
    select id, chunk_count as chunks from document
    where ${documentConditions(workspaceId, filter)} and chunk_count > 0 limit ${max + 1}
  `.execute(db);
  if (rows.length <= max) {
    const ids = rows.map(({ id }) => id);
    return { named: rows, includes: (column) => sql<boolean>`${column} = any(${ids}::text[])` };
  }
  const conditions = documentConditions(workspaceId, filter, 'scoped');
  return {
    named: undefined,
    includes: (column) => sql<boolean>`exists (select from document as scoped where scoped.id = ${column} and ${conditions})`,
  };
}
