import { type RawBuilder, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { AutomaticJobKind } from '../../contract/fields.ts';
import { anyOf } from '../../db/batched-read.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { recordAudit } from '../audit.ts';
import { findHold, refuseHeld } from '../holds/legal-hold.ts';
import { lockDocument, lockDocumentsForDeletion, lockWorkspace } from '../locks.ts';
import { forgetChunks } from '../search/forget-chunks.ts';
import { requestObjectDeletion } from '../stored-objects/request-object-deletion.ts';
import { changeUsedBytes } from '../workspaces/used-bytes.ts';
import { settleDeleted } from './delete-document.ts';
import { type DocumentRow, documentNotFound, findDocument } from './document.ts';
import { addVersion } from './versions.ts';

/** Thrown if a legal hold keeps the content that would be replaced. */
export class ContentHeld extends Error {
  constructor() {
    super('A legal hold keeps the content that this would replace.');
    this.name = 'ContentHeld';
  }
}

/**
 * Checks that an upload may replace the content of a document of the same workspace. Throws NOT_FOUND, CONFLICT if that one waits for its
 * own bytes or replaces another itself, and LEGAL_HOLD.
 */
export async function checkReplaceable(trx: Transaction, replaces: string, workspaceId: string): Promise<void> {
  // Who deletes the document deletes its uploads, and has to see this one.
  await lockWorkspace(trx, workspaceId, 'change');
  const document = await findDocument(trx, replaces);
  if (document?.workspace_id !== workspaceId) throw documentNotFound();
  if (document.status !== 'ready' || document.replaces !== null)
    throw new ApiError('CONFLICT', { message: 'The document to replace is not complete, or replaces another one itself.' });
  await refuseHeld(trx, document.organization_id, workspaceId);
}

/** The one job that an upload which replaces a document gets: the document shall be found as before. */
export async function replacingKind(db: Db, replaces: string, automatic: AutomaticJobKind[]): Promise<AutomaticJobKind> {
  if (automatic.includes('document.process')) return 'document.process';
  const document = await findDocument(db, replaces);
  return automatic.includes('document.index') || document?.indexed_at ? 'document.index' : 'document.extract';
}

/** Takes the lock of the workspace that {@link replaceContent} needs: before those of its index and its documents. */
export async function lockToReplace(trx: Transaction, { replaces, workspace_id }: DocumentRow): Promise<void> {
  if (replaces !== null) await lockWorkspace(trx, workspace_id, 'change');
}

/**
 * Gives the bytes, the text and the jobs of an upload to the document that it replaces, whose own are deleted; the upload is no document any
 * more. Those that were completed before it are deleted, since their content is older. Returns the document that now has the content: the
 * upload itself if it replaces nothing. Without `isIndexed`, which says that the caller stores new chunks, a document that is indexed stays
 * as it is until that is done. Throws {@link ContentHeld}.
 */
export async function replaceContent(trx: Transaction, document: DocumentRow, { isIndexed = false } = {}): Promise<DocumentRow> {
  if (document.replaces === null) return document;
  const earlier = await listEarlier(trx, document.replaces, document.id);
  await lockDocumentsForDeletion(trx, [document.id, document.replaces, ...earlier]);
  const before = await lockDocument(trx, document.replaces, 'change');
  if (!before || (before.indexed_at !== null && !isIndexed)) return document;
  const { id, organization_id: organizationId, workspace_id: workspaceId } = before;
  if (await findHold(trx, organizationId, workspaceId)) throw new ContentHeld();
  await forgetChunks(trx, [id]);
  await trx.deleteFrom('document_text').where('document_id', '=', id).execute();
  await trx.updateTable('document_text').set({ document_id: id }).where('document_id', '=', document.id).execute();
  await trx.updateTable('job').set({ document_id: id }).where('document_id', '=', document.id).execute();
  const upload = await trx.deleteFrom('document').where('id', '=', document.id).returningAll().executeTakeFirstOrThrow();
  const outdated = await trx.deleteFrom('document').where('id', '=', anyOf(earlier)).returningAll().execute();
  const after = await trx
    .updateTable('document')
    .set({ ...contentOf(upload), version: before.version + 1, updated_at: sql`clock_timestamp()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await addVersion(trx, before, upload);
  await changeUsedBytes(trx, workspaceId, -before.size_bytes);
  const actor = { userId: upload.uploaded_by, email: null, impersonatedBy: null };
  await recordAudit(trx, actor, {
    ...{ organizationId, action: 'document.replace', targetId: id },
    metadata: { workspaceId, version: after.version, size: after.size_bytes, upload: upload.id },
  });
  await requestObjectDeletion(trx, organizationId, [before.object_key]);
  await settleDeleted(trx, actor, outdated, { outdatedBy: upload.id });
  return after;
}

/** The other uploads that are to replace a document and were completed before one of them: their first jobs are older. */
async function listEarlier(trx: Transaction, replaces: string, uploadId: string): Promise<string[]> {
  const firstJobOf = (document: RawBuilder<unknown>) => sql`(select min(job.id) from job where document_id = ${document})`;
  const earlier = await trx
    .selectFrom('document')
    .select('id')
    .where('replaces', '=', replaces)
    .where(sql<boolean>`${firstJobOf(sql.ref('document.id'))} < ${firstJobOf(sql`${uploadId}`)}`)
    .execute();
  return earlier.map(({ id }) => id);
}

function contentOf(upload: DocumentRow) {
  const { content_type, charset, size_bytes, object_key, sha256 } = upload;
  const { extracted_characters, extracted_pages, extracted_truncated, extracted_ocr_pages, extracted_ocr_confidence } = upload;
  return {
    ...{ content_type, charset, size_bytes, object_key, sha256 },
    ...{ extracted_characters, extracted_pages, extracted_truncated, extracted_ocr_pages, extracted_ocr_confidence },
    extracted_notices: upload.extracted_notices && JSON.stringify(upload.extracted_notices),
    extracted_at: upload.extracted_at,
  };
}
