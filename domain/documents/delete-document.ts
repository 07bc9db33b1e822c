import type { Transaction } from '../../db/connect.ts';
import { addToOutbox, type OutboxMessage } from '../../db/outbox.ts';
import type { Actor } from '../actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { requestObjectDeletion } from '../objects/request-object-deletion.ts';
import { changeUsedBytes } from '../workspaces/change-used-bytes.ts';
import { type DocumentRow, documentNotFound } from './get-document.ts';
import { uploadWorkflowId } from './upload-workflow-id.ts';

/**
 * Removes a document with its text and chunks, gives its bytes back, and asks for its object's deletion (rule 6). The
 * workspace's row is locked first, as the lock order says. Throws NOT_FOUND where another was faster.
 */
export async function deleteDocument(trx: Transaction, actor: Actor, document: DocumentRow): Promise<OutboxMessage[]> {
  await changeUsedBytes(trx, document.workspace_id, 0, null);
  const deleted = await trx.deleteFrom('document').where('id', '=', document.id).returningAll().executeTakeFirst();
  if (!deleted) throw documentNotFound();
  await changeUsedBytes(trx, deleted.workspace_id, -deleted.size_bytes, null);
  await recordAudit(trx, actor, {
    organizationId: deleted.organization_id,
    action: 'document.delete',
    targetType: 'document',
    targetId: deleted.id,
    metadata: { workspaceId: deleted.workspace_id, name: deleted.name, size: deleted.size_bytes },
  });
  const messages = [await requestObjectDeletion(trx, deleted.organization_id, [deleted.object_key])];
  if (deleted.status === 'pending') {
    messages.push(await addToOutbox(trx, { operation: 'signal', workflowId: uploadWorkflowId(deleted.id), signal: 'uploadEnded' }));
  }
  return messages;
}
