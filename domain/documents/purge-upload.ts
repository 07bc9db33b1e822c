import type { Transaction } from '../../db/connect.ts';
import { lockWorkspace } from '../locks.ts';
import { requestObjectDeletion } from '../objects/request-object-deletion.ts';
import { changeUsedBytes } from '../workspaces/change-used-bytes.ts';
import { findDocument } from './get-document.ts';

/** Removes a document whose upload was never completed, and asks for its object's deletion; false if it is not pending any more. */
export async function purgeUpload(trx: Transaction, documentId: string): Promise<boolean> {
  const document = await findDocument(trx, documentId);
  if (document?.status !== 'pending') return false;
  await lockWorkspace(trx, document.workspace_id, 'change');
  const purged = await trx
    .deleteFrom('document')
    .where('id', '=', documentId)
    .where('status', '=', 'pending')
    .returningAll()
    .executeTakeFirst();
  if (!purged) return false;
  await changeUsedBytes(trx, purged.workspace_id, -purged.size_bytes, null);
  await requestObjectDeletion(trx, purged.organization_id, [purged.object_key]);
  return true;
}
