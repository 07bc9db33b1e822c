import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { purgeUpload } from '../documents/purge-upload.ts';

const pageSize = 200;

/**
 * Removes documents whose upload was not completed for a day: those whose own workflow was lost. One in each
 * transaction, since each locks its workspace.
 */
export async function purgeAbandonedUploads(
  db: Db,
  { onProgress, signal }: { onProgress: (purged: number) => void; signal: AbortSignal },
): Promise<number> {
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
      if (await inTransaction(db, (trx) => purgeUpload(trx, id))) purged++;
      onProgress(purged);
    }
    after = page.at(-1)?.id ?? after;
    if (page.length < pageSize) return purged;
  }
}
