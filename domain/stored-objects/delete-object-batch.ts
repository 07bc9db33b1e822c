import { sql } from 'kysely';
import type { Deletion, Storage } from '../../adapters/storage/port.ts';
import type { Db } from '../../db/connect.ts';
import { checkStoreOwner } from './store-owner.ts';

export interface ObjectBatch {
  deleted: number;
  /** How many objects of the organization the store has refused to delete so far. */
  failing: number;
  /** Milliseconds until the next object is due: 0 if one is due already, null if none is left. */
  nextDueMs: number | null;
  /** The cursor for the next batch; absent if it begins with the first object. */
  reached?: DueCursor;
}

/** The position of an object in the order in which objects are due. */
export interface DueCursor {
  /** As ISO 8601, since it passes through a workflow. */
  dueAt: string;
  key: string;
}

/** The maximum number of objects that a store deletes with one request. */
const pageSize = 1_000;
const pagesPerBatch = 10;
const longestDelaySeconds = 900;

/**
 * Deletes a batch of an organization's objects that are due (docs/rules.md, objects after rows), from `after` on. If the store refuses to
 * delete an object, it is retried later: each wait is twice the one before, at most 15 minutes. Throws StoreOfAnotherDeployment.
 */
export async function deleteObjectBatch(
  db: Db,
  storage: Storage,
  { organizationId, after }: { organizationId: string; after?: DueCursor },
  onProgress: () => void,
): Promise<ObjectBatch> {
  await checkStoreOwner(db, storage);
  let deleted = 0;
  let reached = after;
  for (let pages = 0; pages < pagesPerBatch; pages++) {
    const due = await pageOfDue(db, organizationId, reached);
    for await (const portion of storage.deleteMany(due.map(({ key }) => key))) {
      // One statement deletes all rows, since a commit for each would take longer than the store does.
      if (portion.deleted.length > 0) await db.deleteFrom('object_to_delete').where('key', 'in', portion.deleted).execute();
      if (portion.refused.size > 0) await recordRefusals(db, portion.refused);
      deleted += portion.deleted.length;
      onProgress();
    }
    const last = due.at(-1);
    if (!last || due.length < pageSize) {
      return { deleted, failing: await countFailing(db, organizationId), nextDueMs: await nextDue(db, organizationId) };
    }
    reached = { dueAt: last.next_attempt_at.toISOString(), key: last.key };
  }
  return { deleted, failing: await countFailing(db, organizationId), nextDueMs: 0, ...(reached && { reached }) };
}

interface Due {
  key: string;
  next_attempt_at: Date;
}

/**
 * The next due objects after the last one that was reached. The entries of deleted ones stay in the index until a vacuum removes them, and
 * reading past millions of those takes longer than deleting a batch.
 */
async function pageOfDue(db: Db, organizationId: string, after: DueCursor | undefined): Promise<Due[]> {
  let page = db
    .selectFrom('object_to_delete')
    .select(['key', 'next_attempt_at'])
    .where('organization_id', '=', organizationId)
    .where('next_attempt_at', '<=', sql<Date>`now()`)
    .orderBy('next_attempt_at')
    .orderBy('key')
    .limit(pageSize);
  if (after) page = page.where(sql<boolean>`(next_attempt_at, key) > (${after.dueAt}::timestamptz, ${after.key})`);
  return await page.execute();
}

async function recordRefusals(db: Db, refused: Deletion['refused']): Promise<void> {
  const refusals = [...refused].map(([key, error]) => ({ key, error: refusalText(error) }));
  await sql`
    update object_to_delete set
      attempts = attempts + 1,
      last_error = refusal.error,
      next_attempt_at = now() + make_interval(secs => least(${longestDelaySeconds}, power(2, least(attempts, 20)))::int)
    from unnest(${refusals.map(({ key }) => key)}::text[], ${refusals.map(({ error }) => error)}::text[]) as refusal (key, error)
    where object_to_delete.key = refusal.key
  `.execute(db);
}

/** Why the store refused to delete an object, as rows and operators see it. */
export function refusalText(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500);
}

async function countFailing(db: Db, organizationId: string): Promise<number> {
  const { failing } = await db
    .selectFrom('object_to_delete')
    .select(({ fn }) => fn.countAll<number>().as('failing'))
    .where('organization_id', '=', organizationId)
    .where('attempts', '>', 0)
    .executeTakeFirstOrThrow();
  return failing;
}

/** Reads from the first object on, since a long transaction may have added one that was due before the last one that was reached. */
async function nextDue(db: Db, organizationId: string): Promise<number | null> {
  const { rows } = await sql<{ next_due_ms: number }>`
    select greatest(0, ceil(extract(epoch from next_attempt_at - now()) * 1000))::int as next_due_ms from object_to_delete
    where organization_id = ${organizationId} order by next_attempt_at limit 1
  `.execute(db);
  return rows[0]?.next_due_ms ?? null;
}
