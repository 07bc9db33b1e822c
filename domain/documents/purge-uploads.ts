import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { Failures } from '../failures.ts';
import { lockWorkspace } from '../locks.ts';
import { requestObjectDeletion } from '../objects/request-object-deletion.ts';
import { changeUsedBytes } from '../workspaces/used-bytes.ts';
import { findDocument } from './document.ts';

/** Deletes a document whose upload was never completed, and requests the deletion of its object. False if it is no longer pending. */
export async function purgeUpload(trx: Transaction, documentId: string): Promise<boolean> {
  const document = await findDocument(trx, documentId);
  if (document?.status !== 'pending') return false;
  if (!(await lockWorkspace(trx, document.workspace_id, 'change'))) return false;
  const purged = await trx
    .deleteFrom('document')
    .where('id', '=', documentId)
    .where('status', '=', 'pending')
    .returningAll()
    .executeTakeFirst();
  if (!purged) return false;
  await changeUsedBytes(trx, purged.workspace_id, -purged.size_bytes);
  await requestObjectDeletion(trx, purged.organization_id, [purged.object_key]);
  return true;
}

const pageSize = 200;

/**
 * Deletes documents whose upload was not completed within a day, in case their own workflow was lost. One document in each transaction,
 * since each locks its workspace. Returns how many were deleted; throws at the end what one threw that could not be.
 */
export async function purgeAbandonedUploads(
  db: Db,
  { onProgress, signal }: { onProgress: (purged: number) => void; signal: AbortSignal },
): Promise<number> {
  const failures = new Failures();
  let purged = 0;
  for (let after = ''; ; ) {
    const page = await db
      .selectFrom('document')
      .select('id')
      .where('status', '=', 'pending')
      .where('created_at', '<', sql<Date>`now() - interval '1 day'`)
      .where('id', '>', after)
      .orderBy('id')
      .limit(pageSize)
      .execute();
    for (const { id } of page) {
      signal.throwIfAborted();
      if (await failures.note(() => inTransaction(db, (trx) => purgeUpload(trx, id)))) purged++;
      onProgress(purged);
    }
    after = page.at(-1)?.id ?? after;
    if (page.length < pageSize) break;
  }
  failures.throwFirst();
  return purged;
}
