import { sql } from 'kysely';
import type { Storage } from '../../adapters/storage/port.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { AutomaticJobKind } from '../../contract/fields.ts';
import { signalUploadEnded } from '../../contract/intents/definitions.ts';
import { addFact } from '../../db/add-fact.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { type Actor, recordAudit } from '../audit.ts';
import type { GetPlan } from '../billing/plan.ts';
import { createAutomaticJobs } from '../jobs/create-automatic-jobs.ts';
import { lockDocument, lockOrganization, lockWorkspace } from '../locks.ts';
import { changeUsedBytes, checkUsedBytes } from '../workspaces/used-bytes.ts';
import { type DocumentRow, getReplaced } from './document.ts';
import { checkContent } from './duplicates.ts';
import { replacingKind } from './replace-content.ts';

/**
 * Measures the stored object of a document, in bytes. Throws PRECONDITION_FAILED if there is none, and PAYLOAD_TOO_LARGE if it is larger
 * than declared. Then the object is deleted, and `onDeleteFailed` gets the error if the deletion fails.
 */
export async function measureUpload(storage: Storage, document: DocumentRow, onDeleteFailed: (error: unknown) => void): Promise<number> {
  const { object_key: key, size_bytes: declaredBytes } = document;
  const object = await storage.stat(key);
  if (!object) throw new ApiError('PRECONDITION_FAILED', { message: 'The file has not been uploaded.' });
  if (object.sizeBytes > declaredBytes) {
    await storage.deleteIfLarger(key, declaredBytes).catch(onDeleteFailed);
    const message = 'The uploaded file is larger than declared; it was deleted.';
    throw new ApiError('PAYLOAD_TOO_LARGE', { message, data: { maxBytes: declaredBytes } });
  }
  return object.sizeBytes;
}

/**
 * Makes a pending document ready at its measured size, and checks the storage limit again (docs/rules.md, document states). A document that
 * is already ready is returned unchanged, or the one that it has replaced. Queues the jobs that the workspace asks for, if the deployment has
 * their kind. Throws LIMIT_REACHED and as {@link checkContent}, which leave it pending, and NOT_FOUND.
 */
export async function completeUpload(
  trx: Transaction,
  getPlan: GetPlan,
  actor: Actor,
  document: DocumentRow,
  { measuredBytes, hasKind, mayRead }: { measuredBytes: number; hasKind: (kind: AutomaticJobKind) => boolean; mayRead: boolean },
): Promise<DocumentRow> {
  await lockOrganization(trx, document.organization_id);
  const plan = await getPlan(trx, document.organization_id);
  const workspace = await lockWorkspace(trx, document.workspace_id, 'change');
  const current = await lockDocument(trx, document.id, 'change');
  // A job may have given its content to the document that it replaces since it was read.
  if (!current) return await getReplaced(trx, [document.organization_id], document.id);
  if (current.status === 'ready') return { ...current, uploaded_by: document.uploaded_by };
  if (workspace) await checkContent(trx, workspace, current, mayRead);
  // The measured size is no larger than the declared one, but the plan may have shrunk since.
  checkUsedBytes(await changeUsedBytes(trx, current.workspace_id, measuredBytes - current.size_bytes), plan);
  const ready = await trx
    .updateTable('document')
    .set({ status: 'ready', size_bytes: measuredBytes, updated_at: sql`clock_timestamp()` })
    .where('id', '=', current.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const automatic = workspace?.auto_process.filter(hasKind) ?? [];
  const kinds = ready.replaces === null ? automatic : [await replacingKind(trx, ready.replaces, automatic)];
  await createAutomaticJobs(trx, getPlan, actor, ready, kinds);
  await recordAudit(trx, actor, {
    organizationId: ready.organization_id,
    action: 'document.complete',
    targetId: ready.id,
    metadata: { size: measuredBytes },
  });
  addFact(trx, { what: 'upload completed', bytes: measuredBytes });
  const { id: documentId, organization_id: organizationId, workspace_id: workspaceId } = ready;
  addToOutbox(trx, signalUploadEnded({ documentId, organizationId, workspaceId }));
  return { ...ready, uploaded_by: document.uploaded_by };
}
