import { signalUploadEnded } from '../../contract/intents/definitions.ts';
import { anyOf } from '../../db/batched-read.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { refuseHeld } from '../holds/legal-hold.ts';
import { lockDocumentsForDeletion, lockWorkspace } from '../locks.ts';
import { requestObjectDeletion } from '../stored-objects/request-object-deletion.ts';
import { changeUsedBytes } from '../workspaces/used-bytes.ts';
import { type DocumentRow, documentNotFound } from './document.ts';

/**
 * Deletes a document with its text and chunks, and uploads that were to replace it, gives their bytes back, and requests the deletion of their
 * objects (docs/rules.md, objects after rows). Its chunks are few enough for one transaction; its jobs, of which there may be any number, stay
 * as they are (docs/rules.md, gone at once). Throws NOT_FOUND if it is gone already, LEGAL_HOLD if it is held.
 */
export async function deleteDocument(trx: Transaction, actor: Actor, document: DocumentRow, because: object = {}): Promise<void> {
  if (!(await lockWorkspace(trx, document.workspace_id, 'change'))) throw documentNotFound();
  await refuseHeld(trx, document.organization_id, document.workspace_id);
  const uploads = await trx.selectFrom('document').select('id').where('replaces', '=', document.id).execute();
  const ids = [document.id, ...uploads.map(({ id }) => id)];
  await lockDocumentsForDeletion(trx, ids);
  const deleted = await trx.deleteFrom('document').where('id', '=', anyOf(ids)).returningAll().execute();
  if (!deleted.some(({ id }) => id === document.id)) throw documentNotFound();
  await settleDeleted(trx, actor, deleted, because);
}

/** What follows once the rows of documents of a workspace are deleted. */
export async function settleDeleted(
  trx: Transaction,
  actor: Actor,
  deleted: Omit<DocumentRow, 'failed_job'>[],
  because: object = {},
): Promise<void> {
  for (const { id, organization_id: organizationId, workspace_id: workspaceId, name, size_bytes: size, replaces } of deleted) {
    await changeUsedBytes(trx, workspaceId, -size);
    await recordAudit(trx, actor, {
      organizationId,
      action: 'document.delete',
      targetId: id,
      metadata: { workspaceId, name, size, ...(replaces !== null && { replaces }), ...because },
    });
  }
  for (const { id: documentId, organization_id: organizationId, workspace_id: workspaceId, object_key: key, status } of deleted) {
    await requestObjectDeletion(trx, organizationId, [key]);
    if (status === 'pending') addToOutbox(trx, signalUploadEnded({ documentId, organizationId, workspaceId }));
  }
}
