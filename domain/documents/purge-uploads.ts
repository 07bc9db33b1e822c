import { sql } from 'kysely';
import { anyOf } from '../../db/batched-read.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { DatabaseUnavailable, isLockTimeout } from '../../db/unavailable.ts';
import { Failures } from '../failures.ts';
import { findHold } from '../holds/legal-hold.ts';
import { lockDocumentsForDeletion, lockWorkspace } from '../locks.ts';
import type { BatchOptions, Deleted } from '../retention.ts';
import { requestObjectDeletion } from '../stored-objects/request-object-deletion.ts';
import { changeUsedBytes } from '../workspaces/used-bytes.ts';
import { type DocumentRow, findDocument } from './document.ts';

/** How long an upload may take; `uploadDelay` in adapters/temporal/start-options.ts wakes the workflow then. */
const uploadTime = sql`interval '24 hours'`;

type Upload = Pick<DocumentRow, 'id' | 'organization_id' | 'workspace_id'>;

/**
 * Deletes a document whose upload was not completed within a day, and requests the deletion of its object. `leftMs`: the remaining time of
 * an upload that is still pending, by the database's clock.
 */
export async function purgeUpload(trx: Transaction, documentId: string): Promise<{ purged: boolean; leftMs: number }> {
  const document = await findDocument(trx, documentId);
  if (document?.status !== 'pending') return { purged: false, leftMs: 0 };
  const { rows } = await sql<{ ms: number }>`
    select extract(epoch from ${document.created_at}::timestamptz + ${uploadTime} - clock_timestamp())::float8 * 1000 as ms
  `.execute(trx);
  const leftMs = Math.max(0, Math.ceil(rows[0]?.ms ?? 0));
  if (leftMs > 0) return { purged: false, leftMs };
  return { purged: (await purgeTogether(trx, document, [document])) === 1, leftMs };
}

/**
 * Deletes the uploads of a workspace that are still pending, and requests the deletion of their objects. Returns how many: none while it is
 * held.
 */
async function purgeTogether(
  trx: Transaction,
  { workspace_id, organization_id }: Omit<Upload, 'id'>,
  uploads: Pick<Upload, 'id'>[],
): Promise<number> {
  const ids = uploads.map(({ id }) => id);
  if (!(await lockWorkspace(trx, workspace_id, 'change'))) return 0;
  if (await findHold(trx, organization_id, workspace_id)) return 0;
  await lockDocumentsForDeletion(trx, ids);
  const purged = await trx
    .deleteFrom('document')
    .where('id', '=', anyOf(ids))
    .where('workspace_id', '=', workspace_id)
    .where('status', '=', 'pending')
    .returning(['object_key', 'size_bytes'])
    .execute();
  if (purged.length === 0) return 0;
  await changeUsedBytes(trx, workspace_id, -purged.reduce((sum, { size_bytes }) => sum + size_bytes, 0));
  await requestObjectDeletion(
    trx,
    organization_id,
    purged.map(({ object_key }) => object_key),
  );
  return purged.length;
}

/** The uploads of a page that belong to one workspace are deleted in one transaction, which locks it for a fraction of a second. */
const pageSize = 500;

/**
 * Deletes documents whose upload was not completed within a day, in case their own workflows were lost: the oldest first, in pages that
 * each begin after the last one (docs/rules.md, large things are bounded). Continues from `before`. Returns how many. Throws at the end the
 * first error of a document that could not be deleted.
 */
export async function purgeAbandonedUploads(db: Db, { before, onProgress, signal }: BatchOptions): Promise<number> {
  const failures = new Failures();
  let { deleted, last }: Deleted = before ?? { deleted: 0 };
  for (let reached = last; ; ) {
    const page = await listAbandoned(db, reached);
    for (const uploads of Map.groupBy(page, ({ workspace_id }) => workspace_id).values()) {
      for await (const count of purgeOfWorkspace(db, uploads, failures)) {
        deleted += count;
        onProgress({ deleted, ...(last && { last }) });
        signal.throwIfAborted();
      }
    }
    const end = page.at(-1);
    if (end) reached = { time: end.created_at.toISOString(), id: end.id };
    // The next attempt begins before the first one that failed.
    if (!failures.any) last = reached;
    if (page.length < pageSize) break;
  }
  failures.throwFirst();
  return deleted;
}

async function listAbandoned(db: Db, after: Deleted['last']): Promise<(Upload & { created_at: Date })[]> {
  const abandoned = db
    .selectFrom('document')
    .select(['id', 'organization_id', 'workspace_id', 'created_at'])
    .where('status', '=', 'pending')
    .where('created_at', '<', sql<Date>`now() - ${uploadTime}`)
    .orderBy('created_at')
    .orderBy('id')
    .limit(pageSize);
  const next = after ? abandoned.where(sql<boolean>`(created_at, id) > (${after.time}::timestamptz, ${after.id})`) : abandoned;
  return await next.execute();
}

/**
 * Purges the uploads of a workspace together, or each alone if that fails, so that a failure affects no other. Yields a count after each
 * transaction.
 */
async function* purgeOfWorkspace(db: Db, uploads: Upload[], failures: Failures): AsyncGenerator<number, void> {
  const purge = (some: Upload[]) => inTransaction(db, async (trx) => (some[0] ? await purgeTogether(trx, some[0], some) : 0));
  try {
    yield await purge(uploads);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    // Each single upload would wait for the same lock of the workspace again.
    if (isLockTimeout(error)) yield (await failures.note(() => Promise.reject(error))) ?? 0;
    else for (const upload of uploads) yield (await failures.note(() => purge([upload]))) ?? 0;
  }
}
