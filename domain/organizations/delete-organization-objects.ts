import type { Db } from '../../db/connect.ts';
import type { Storage } from '../../storage/port.ts';

export interface DeletedObjects {
  deleted: number;
  /** Objects that the store refused to delete: noted as objects to delete, which are tried again for as long as it takes. */
  failed: number;
}

const concurrency = 20;

/**
 * Deletes every stored object of an organization, listed a page at a time, in bounded memory. Counts go on from `before`, and
 * `onProgress` hears them after each batch, so that an attempt that dies is taken up where it was.
 */
export async function deleteOrganizationObjects(
  db: Db,
  storage: Storage,
  organizationId: string,
  { before, onProgress, signal }: { before: DeletedObjects; onProgress: (counts: DeletedObjects) => void; signal: AbortSignal },
): Promise<DeletedObjects> {
  const counts = { ...before };
  let batch: string[] = [];
  for await (const { key } of storage.list(`${organizationId}/`)) {
    signal.throwIfAborted();
    batch.push(key);
    if (batch.length < concurrency) continue;
    await deleteBatch(batch);
    batch = [];
  }
  await deleteBatch(batch);
  return counts;

  async function deleteBatch(keys: string[]): Promise<void> {
    const results = await Promise.all(keys.map((key) => deleteOne(db, storage, organizationId, key)));
    for (const result of results) counts[result]++;
    onProgress(counts);
  }
}

async function deleteOne(db: Db, storage: Storage, organizationId: string, key: string): Promise<keyof DeletedObjects> {
  try {
    await storage.delete(key);
    return 'deleted';
  } catch (error) {
    const last_error = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    await db
      .insertInto('object_to_delete')
      .values({ key, organization_id: organizationId, attempts: 1, last_error })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ last_error }))
      .execute();
    return 'failed';
  }
}
