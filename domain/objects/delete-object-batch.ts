import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Storage } from '../../storage/port.ts';

export interface ObjectBatch {
  deleted: number;
  /** How many objects of the organization the store has refused to delete so far. */
  failing: number;
  /** Milliseconds until the next object is due; 0 if one is due now, null if none is left. */
  nextDueMs: number | null;
}

const batchSize = 500;
const parallelDeletions = 10;
const longestDelaySeconds = 900;

/**
 * Deletes a batch of an organization's objects that are due (docs/rules.md, objects after rows). One that the store refuses to delete is
 * tried again after twice as long each time, at most after a quarter of an hour.
 */
export async function deleteObjectBatch(db: Db, storage: Storage, organizationId: string, onProgress: () => void): Promise<ObjectBatch> {
  const due = await db
    .selectFrom('object_to_delete')
    .select('key')
    .where('organization_id', '=', organizationId)
    .where('next_attempt_at', '<=', sql<Date>`now()`)
    .orderBy('next_attempt_at')
    .limit(batchSize)
    .execute();
  let deleted = 0;
  for (let start = 0; start < due.length; start += parallelDeletions) {
    const results = await Promise.all(due.slice(start, start + parallelDeletions).map(({ key }) => deleteOne(db, storage, key)));
    const gone = results.filter((key) => key !== undefined);
    // One statement for all: a commit for each would take longer than the store does.
    if (gone.length > 0) await db.deleteFrom('object_to_delete').where('key', 'in', gone).execute();
    deleted += gone.length;
    onProgress();
  }
  return { deleted, ...(await remaining(db, organizationId)) };
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
    select count(*) filter (where attempts > 0) as failing,
      -- greatest() ignores null, so without the case an empty table would have an object that is due.
      case when count(*) > 0 then greatest(0, ceil(extract(epoch from min(next_attempt_at) - now()) * 1000))::int end as next_due_ms
    from object_to_delete where organization_id = ${organizationId}
  `.execute(db);
  return { failing: rows[0]?.failing ?? 0, nextDueMs: rows[0]?.next_due_ms ?? null };
}
