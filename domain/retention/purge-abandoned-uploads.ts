import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { OutboxMessage } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { purgeUpload } from '../documents/purge-upload.ts';

const pageSize = 200;

/**
 * Removes documents whose upload was not completed for a day (spec §3): those whose own workflow was lost. One in each
 * transaction, since each locks its workspace.
 */
export async function purgeAbandonedUploads(
  db: Db,
  {
    onProgress,
    signal,
    dispatch,
  }: { onProgress: (purged: number) => void; signal: AbortSignal; dispatch: (messages: OutboxMessage[]) => void },
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
      const message = await inTransaction(db, (trx) => purgeUpload(trx, id));
      if (message) {
        purged++;
        dispatch([message]);
      }
      onProgress(purged);
    }
    after = page.at(-1)?.id ?? after;
    if (page.length < pageSize) return purged;
  }
}
