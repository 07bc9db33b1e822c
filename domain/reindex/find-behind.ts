import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { type IndexKind, isOtherKind } from '../search/index-kind.ts';

/** The workspaces that an operator chooses: one, those of an organization, or all. */
export interface ReindexScope {
  workspaceId?: string | undefined;
  organizationId?: string | undefined;
}

/**
 * The first workspace after another, by id, that has documents of another kind than `target` or is searched by another kind; undefined if
 * there is none.
 */
export async function nextWorkspaceBehind(
  db: Db,
  { workspaceId, organizationId }: ReindexScope,
  { target, after }: { target: IndexKind; after: string },
): Promise<string | undefined> {
  const isMeant = sql`workspace.id > ${after}
    ${workspaceId === undefined ? sql`` : sql`and workspace.id = ${workspaceId}`}
    ${organizationId === undefined ? sql`` : sql`and workspace.organization_id = ${organizationId}`}`;
  const firstIn = (table: string) => sql`(
    select workspace.id from ${sql.table(table)} as indexed join workspace on workspace.id = indexed.workspace_id
    where indexed.workspace_id > ${after} and ${isMeant} and ${isOtherKind('indexed', target)}
    order by indexed.workspace_id limit 1
  )`;
  const { rows } = await sql<{ id: string }>`
    select id from (${firstIn('document_index')} union all ${firstIn('workspace_index')}) as behind order by id limit 1
  `.execute(db);
  return rows[0]?.id;
}

/** A document to embed again, its present index, and when its text was extracted; null if no text is stored. */
export interface BehindDocument {
  documentId: string;
  indexedAt: Date;
  extractedAt: Date | null;
}

/** Whether the document's chunks for the target are already staged. */
const isStaged = (target: IndexKind) => sql<boolean>`exists (
  select from staged_index
  where staged_index.document_id = document_index.document_id and not (${isOtherKind('staged_index', target)})
)`;

/** Documents of a workspace that are of another kind than `target` and not staged, by id, after another one. */
export async function listBehind(
  db: Db | Transaction,
  { workspaceId, target, after, limit }: { workspaceId: string; target: IndexKind; after: string; limit: number },
): Promise<BehindDocument[]> {
  const { rows } = await sql<BehindDocument>`
    select document_id as "documentId", document.indexed_at as "indexedAt", extracted_at as "extractedAt"
    from document_index join document on document.id = document_id
    where document_index.workspace_id = ${workspaceId} and document_id > ${after}
      and ${isOtherKind('document_index', target)} and not ${isStaged(target)}
    order by document_id limit ${limit}
  `.execute(db);
  return rows;
}

/** How many documents are of another kind than `target`, and how many of them are staged already. */
export async function countBehind(db: Db, workspaceId: string, target: IndexKind): Promise<{ behind: number; staged: number }> {
  const { rows } = await sql<{ behind: number; staged: number }>`
    select count(*)::int as behind, (count(*) filter (where ${isStaged(target)}))::int as staged from document_index
    where workspace_id = ${workspaceId} and ${isOtherKind('document_index', target)}
  `.execute(db);
  return rows[0] ?? { behind: 0, staged: 0 };
}

/**
 * How many documents of the whole platform are indexed, and how many of them with another model, number of dimensions, or chunking. An
 * unknown number of dimensions is not compared. Reads a whole index.
 */
export async function countAllBehind(
  db: Db,
  { model, dimensions, chunking }: Omit<IndexKind, 'dimensions'> & { dimensions: number | null },
): Promise<{ documents: number; behind: number }> {
  const { rows } = await sql<{ documents: number; behind: number }>`
    select count(*)::int as documents,
      (count(*) filter (where model <> ${model} or chunking <> ${chunking} or dimensions <> coalesce(${dimensions}::int, dimensions)))::int as behind
    from document_index
  `.execute(db);
  return rows[0] ?? { documents: 0, behind: 0 };
}
