import { signalUploadEnded } from '../../contract/intents/definitions.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { refuseHeld } from '../holds/legal-hold.ts';
import { lockWorkspace } from '../locks.ts';
import { requestObjectDeletion } from '../stored-objects/request-object-deletion.ts';
import { changeUsedBytes } from '../workspaces/used-bytes.ts';
import { type DocumentRow, documentNotFound } from './document.ts';

/**
 * Deletes a document with its text and chunks, gives its bytes back, and requests the deletion of its object (docs/rules.md, objects after
 * rows). Its chunks are few enough for one transaction; its jobs, of which there may be any number, stay as they are (docs/rules.md, gone
 * at once). Throws NOT_FOUND if it is gone already, LEGAL_HOLD if it is held.
 */
export async function deleteDocument(trx: Transaction, actor: Actor, document: DocumentRow, because: object = {}): Promise<void> {
  if (!(await lockWorkspace(trx, document.workspace_id, 'change'))) throw documentNotFound();
  await refuseHeld(trx, document.organization_id, document.workspace_id);
  const deleted = await trx.deleteFrom('document').where('id', '=', document.id).returningAll().executeTakeFirst();
  if (!deleted) throw documentNotFound();
  await changeUsedBytes(trx, deleted.workspace_id, -deleted.size_bytes);
  await recordAudit(trx, actor, {
    organizationId: deleted.organization_id,
    action: 'document.delete',
    targetId: deleted.id,
    metadata: { workspaceId: deleted.workspace_id, name: deleted.name, size: deleted.size_bytes, ...because },
  });
  await requestObjectDeletion(trx, deleted.organization_id, [deleted.object_key]);
  if (deleted.status !== 'pending') return;
  const { id: documentId, organization_id: organizationId, workspace_id: workspaceId } = deleted;
  addToOutbox(trx, signalUploadEnded({ documentId, organizationId, workspaceId }));
}
