import type { Transaction } from '../../db/connect.ts';
import type { OutboxMessage } from '../../db/outbox.ts';
import { requestObjectDeletion } from '../objects/request-object-deletion.ts';
import { changeUsedBytes } from '../workspaces/change-used-bytes.ts';
import { findDocument } from './get-document.ts';

/** Removes a document whose upload was never completed, and asks for its object's deletion; undefined where it is not pending any more. */
export async function purgeUpload(trx: Transaction, documentId: string): Promise<OutboxMessage | undefined> {
  const document = await findDocument(trx, documentId);
  if (document?.status !== 'pending') return undefined;
  await changeUsedBytes(trx, document.workspace_id, 0, null);
  const purged = await trx
    .deleteFrom('document')
    .where('id', '=', documentId)
    .where('status', '=', 'pending')
    .returningAll()
    .executeTakeFirst();
  if (!purged) return undefined;
  await changeUsedBytes(trx, purged.workspace_id, -purged.size_bytes, null);
  return requestObjectDeletion(trx, purged.organization_id, [purged.object_key]);
}
