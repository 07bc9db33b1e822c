import { sql } from 'kysely';
import { objectKey } from '../../adapters/storage/object-key.ts';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { requestObjectDeletion } from './request-object-deletion.ts';

/**
 * Records that an upload link was signed for a document that was deleted or has another content now, and may still store its object. For
 * one that has it, the triggers `expect_late_upload` and `expect_late_upload_of_version` record it then.
 */
export async function expectLateUpload(db: Db, { id, organizationId }: { id: string; organizationId: string }): Promise<void> {
  const key = objectKey(organizationId, id);
  await sql`
    insert into late_upload (key, organization_id)
    select ${key}, ${organizationId} where not exists (select from document where object_key = ${key})
    on conflict (key) do update set due_at = excluded.due_at
  `.execute(db);
}

/**
 * Requests the deletion of objects that may have been stored after their documents were deleted, once no link works any more; not that of
 * an upload whose content a document has taken over. Takes at most `limit`, the oldest first. Returns how many.
 */
export async function sweepLateUploads(db: Db, limit: number): Promise<number> {
  return await inTransaction(db, async (trx) => {
    const { rows } = await sql<{ key: string; organization_id: string; kept: boolean }>`
      delete from late_upload where key in (
        select key from late_upload where due_at <= now() order by due_at limit ${limit} for update skip locked
      ) returning key, organization_id, exists (select from document where object_key = late_upload.key) as kept
    `.execute(trx);
    const byOrganization = Map.groupBy(
      rows.filter(({ kept }) => !kept),
      ({ organization_id }) => organization_id,
    );
    for (const [organizationId, own] of byOrganization) {
      await requestObjectDeletion(
        trx,
        organizationId,
        own.map(({ key }) => key),
      );
    }
    return rows.length;
  });
}
