import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Storage } from '../../storage/port.ts';
import { requestObjectDeletion } from './request-object-deletion.ts';

/** The row of a younger object may not be committed yet, or its upload may be under way. */
const youngestMs = 24 * 60 * 60 * 1_000;
const pageSize = 500;

/**
 * Finds stored objects without a document, and requests their deletion. Lists the store a page at a time (docs/rules.md, large things are
 * bounded). Returns how many it found.
 */
export async function findOrphanedObjects(
  db: Db,
  storage: Storage,
  { onProgress, signal }: { onProgress: (found: number) => void; signal: AbortSignal },
): Promise<number> {
  let found = 0;
  let page: string[] = [];
  for await (const { key, createdAt } of storage.list('')) {
    signal.throwIfAborted();
    if (createdAt.getTime() > Date.now() - youngestMs) continue;
    page.push(key);
    if (page.length < pageSize) continue;
    await checkPage();
  }
  await checkPage();
  return found;

  async function checkPage(): Promise<void> {
    const orphans = await findOrphans(db, page);
    page = [];
    for (const [organizationId, keys] of Map.groupBy(orphans, (key) => key.slice(0, key.indexOf('/')))) {
      await inTransaction(db, (trx) => requestObjectDeletion(trx, organizationId, keys));
    }
    found += orphans.length;
    onProgress(found);
  }
}

async function findOrphans(db: Db, keys: string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<{ key: string }>`
    select key from unnest(${keys}::text[]) as stored (key)
    where not exists (select from document where object_key = key)
      and not exists (select from object_to_delete where object_to_delete.key = stored.key)
  `.execute(db);
  return rows.map(({ key }) => key);
}
