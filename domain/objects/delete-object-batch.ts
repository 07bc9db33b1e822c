import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Storage } from '../../storage/port.ts';
import { checkStoreOwner } from './store-owner.ts';

export interface ObjectBatch {
  deleted: number;
  /** How many objects of the organization the store has refused to delete so far. */
  failing: number;
  /** Milliseconds until the next object is due; 0 if one is due now, null if none is left. */
  nextDueMs: number | null;
}

const pageSize = 500;
const pagesPerBatch = 20;
const parallelDeletions = 10;
const longestDelaySeconds = 900;

/**
 * Deletes a batch of an organization's objects that are due (docs/rules.md, objects after rows). One that the store refuses to delete is
 * tried again after twice as long each time, at most after a quarter of an hour. Throws StoreOfAnotherDeployment.
 */
export async function deleteObjectBatch(db: Db, storage: Storage, organizationId: string, onProgress: () => void): Promise<ObjectBatch> {
  await checkStoreOwner(db, storage);
  let deleted = 0;
  let last: Due | undefined;
  for (let pages = 0; pages < pagesPerBatch; pages++) {
    const due = await pageOfDue(db, organizationId, last);
    for (let start = 0; start < due.length; start += parallelDeletions) {
      const results = await Promise.all(due.slice(start, start + parallelDeletions).map(({ key }) => deleteOne(db, storage, key)));
      const gone = results.filter((key) => key !== undefined);
      // One statement for all: a commit for each would take longer than the store does.
      if (gone.length > 0) await db.deleteFrom('object_to_delete').where('key', 'in', gone).execute();
      deleted += gone.length;
      onProgress();
    }
    last = due.at(-1);
    if (due.length < pageSize) break;
  }
  return { deleted, ...(await remaining(db, organizationId)) };
}

interface Due {
  key: string;
  next_attempt_at: Date;
}

/** The next objects that are due, after the last one of the page before: its rows are gone, and are not read again. */
async function pageOfDue(db: Db, organizationId: string, last: Due | undefined): Promise<Due[]> {
  let page = db
    .selectFrom('object_to_delete')
    .select(['key', 'next_attempt_at'])
    .where('organization_id', '=', organizationId)
    .where('next_attempt_at', '<=', sql<Date>`now()`)
    .orderBy('next_attempt_at')
    .orderBy('key')
    .limit(pageSize);
  if (last) page = page.where(sql<boolean>`(next_attempt_at, key) > (${last.next_attempt_at}, ${last.key})`);
  return await page.execute();
}

/** The key if the store deleted the object; undefined if it refused, which is recorded. */
async function deleteOne(db: Db, storage: Storage, key: string): Promise<string | undefined> {
  try {
    await storage.delete(key);
    return key;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await db
      .updateTable('object_to_delete')
      .set({
        attempts: sql`attempts + 1`,
        last_error: message.slice(0, 500),
        next_attempt_at: sql`now() + make_interval(secs => least(${longestDelaySeconds}, power(2, least(attempts, 20)))::int)`,
      })
      .where('key', '=', key)
      .execute();
    return undefined;
  }
}

async function remaining(db: Db, organizationId: string): Promise<Pick<ObjectBatch, 'failing' | 'nextDueMs'>> {
  const { rows } = await sql<{ failing: number; next_due_ms: number | null }>`
    select
      (select count(*) from object_to_delete where organization_id = ${organizationId} and attempts > 0) as failing,
      (
        select greatest(0, ceil(extract(epoch from next_attempt_at - now()) * 1000))::int from object_to_delete
        where organization_id = ${organizationId} order by next_attempt_at limit 1
      ) as next_due_ms
  `.execute(db);
  return { failing: rows[0]?.failing ?? 0, nextDueMs: rows[0]?.next_due_ms ?? null };
}
