import { type RawBuilder, type Selectable, sql } from 'kysely';
import { objectKey } from '../../adapters/storage/object-key.ts';
import { ApiError } from '../../contract/api-error.ts';
import { anyOf, batchedRead } from '../../db/batched-read.ts';
import type { Db } from '../../db/connect.ts';
import type { DocumentTable, JobKind } from '../../db/schema.ts';
import type { Digest } from './digested.ts';

/** A document's row, without the columns that only indexes and pages need. */
export type DocumentRow = Omit<Selectable<DocumentTable>, 'labels' | 'label_bytes'> & {
  /** The newest job of the document, if it has failed. A document that was just created has none. */
  failed_job?: FailedJob | null;
};

interface FailedJob {
  id: string;
  kind: JobKind;
  code: string | null;
  message: string | null;
  finishedAt: string;
}

/**
 * Whether the workspace of a document still exists. The documents of a deleted one are drained later (docs/rules.md, gone at once); whoever
 * reads or locks documents asks this.
 */
export const inWorkspace = sql<boolean>`exists (select from workspace where workspace.id = document.workspace_id)`;

/** The user or API key that a column names. A user who is gone is not named any more; an API key is no person. */
export function whoIsThere(column: RawBuilder<unknown>) {
  return sql<string | null>`case when starts_with(${column}, 'key_') then ${column}
    else (select id from "user" where "user".id = ${column}) end`;
}

const columns = [
  'id',
  'organization_id',
  'workspace_id',
  whoIsThere(sql.ref('document.uploaded_by')).as('uploaded_by'),
  'name',
  'content_type',
  'charset',
  'size_bytes',
  'status',
  'object_key',
  'sha256',
  'promised_sha256',
  'version',
  'replaces',
  'extracted_characters',
  'extracted_pages',
  'extracted_truncated',
  'extracted_ocr_pages',
  'extracted_ocr_confidence',
  'extracted_notices',
  'extracted_at',
  'indexed_at',
  'chunk_count',
  'tags',
  'metadata',
  'created_at',
  'updated_at',
  sql<FailedJob | null>`(
    select case when job.status = 'failed' then
      jsonb_build_object('id', job.id, 'kind', kind, 'code', error_code, 'message', error_message, 'finishedAt', finished_at) end
    from job where document_id = document.id order by job.created_at desc, job.id desc limit 1
  )`.as('failed_job'),
] as const;

/** Selects the documents that are not deleted, with the columns that readers get. */
function selectDocuments(db: Db) {
  return db.selectFrom('document').select(columns).where(inWorkspace);
}

/** Reads those of the documents that exist, in no particular order. */
export async function readDocuments(db: Db, ids: readonly string[]): Promise<DocumentRow[]> {
  return await selectDocuments(db).where('id', '=', anyOf(ids)).execute();
}

/** The document, or undefined. */
export const findDocument = batchedRead(readDocuments, ({ id }) => id);

/** The document, whichever organization it belongs to: the caller authorizes by the row. Throws NOT_FOUND. */
export async function getDocument(db: Db, documentId: string): Promise<DocumentRow> {
  const document = await findDocument(db, documentId);
  if (!document) throw documentNotFound();
  return document;
}

/**
 * The document that an upload has given its content to (docs/rules.md, document states): the one that has the object of the upload, or that
 * had it in an earlier version, in one of these organizations. Throws NOT_FOUND.
 */
export async function getReplaced(db: Db, organizationIds: readonly string[], uploadId: string): Promise<DocumentRow> {
  const keys = organizationIds.map((organizationId) => objectKey(organizationId, uploadId));
  const document = await db
    .selectFrom('document')
    .select('id')
    .where('object_key', '=', anyOf(keys))
    .unionAll(db.selectFrom('document_version').select('document_id as id').where('object_key', '=', anyOf(keys)))
    .executeTakeFirst();
  return await getDocument(db, document?.id ?? uploadId);
}

/**
 * The declared size of the document that the organization's object of this name belongs to, in bytes, or the measured one once it is
 * complete. Undefined once none has it, although the object may exist a little longer: the document was deleted, or has another content.
 */
export async function findDeclaredBytes(db: Db, organizationId: string, documentId: string): Promise<number | undefined> {
  const key = objectKey(organizationId, documentId);
  const document = await db.selectFrom('document').select('size_bytes').where('object_key', '=', key).where(inWorkspace).executeTakeFirst();
  return document?.size_bytes;
}

/**
 * Stores the digest of a document's object, unless that is larger than declared and will be deleted. Returns whether the organization's
 * document is there: it may have been deleted while the bytes arrived.
 */
export async function storeDigest(db: Db, organizationId: string, documentId: string, { sizeBytes, sha256 }: Digest): Promise<boolean> {
  const stored = await db
    .updateTable('document')
    .set({ sha256: sql<string | null>`case when size_bytes >= ${sizeBytes} then ${sha256} end` })
    .where('object_key', '=', objectKey(organizationId, documentId))
    .where(inWorkspace)
    .returning('id')
    .executeTakeFirst();
  return stored !== undefined;
}

export function documentNotFound(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'Document not found.' });
}

/** Thrown if the document of a job no longer exists: the job fails and is not retried. */
export class DocumentGone extends Error {
  constructor() {
    super('The document no longer exists.');
    this.name = 'DocumentGone';
  }
}
