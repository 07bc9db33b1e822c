import { sql } from 'kysely';
import type { Storage } from '../../adapters/storage/port.ts';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { findStop, OrphanSweepStopped, stopSweep } from './orphan-sweep-stop.ts';
import { requestObjectDeletion } from './request-object-deletion.ts';
import { checkStoreOwner } from './store-owner.ts';

/** The minimum age of an orphan: the row of a younger object may not be committed yet, or its upload may be running. */
const youngestMs = 24 * 60 * 60 * 1_000;
const pageSize = 500;
const youngPerReport = 1_000;

/** The maximum number of orphans that are deleted. If there are more, the database is not the store's, or has lost rows. */
const maxOrphans = 1_000;
const maxPercent = 1;
/** This many may always be deleted, also in a small store. */
const minAllowedOrphans = 10;

/** The progress of a sweep. */
export interface OrphanSweep {
  /** The last key that was checked; undefined at the beginning. */
  reached?: string;
  checked: number;
  found: number;
}

/**
 * Finds stored objects without a document, and requests their deletion once the whole store is checked. Continues from `before`. Returns
 * how many it found. Throws {@link OrphanSweepStopped}, with nothing deleted, if there are more than 1,000 or more than 1 % of what was
 * checked, unless an operator has allowed that many; StoreOfAnotherDeployment if the store is not this deployment's.
 */
export async function findOrphanedObjects(
  db: Db,
  storage: Storage,
  options: { before: OrphanSweep | undefined; onProgress: (sweep: OrphanSweep) => void; signal: AbortSignal },
): Promise<number> {
  const { before, onProgress, signal } = options;
  await checkStoreOwner(db, storage);
  const allowed = (await findStop(db))?.allowed ?? 0;
  const sweep = { checked: 0, found: 0, ...before };
  if (!before) await db.deleteFrom('orphaned_object').execute();
  let page: string[] = [];
  let young = 0;
  for await (const { key, createdAt } of storage.list('', sweep.reached)) {
    signal.throwIfAborted();
    if (createdAt.getTime() > Date.now() - youngestMs) {
      // Young objects fill no page, and there may be millions of them.
      if (++young % youngPerReport === 0) onProgress({ ...sweep });
      continue;
    }
    page.push(key);
    if (page.length === pageSize) await checkPage();
  }
  await checkPage();
  sweep.found = Math.max(sweep.found, await countNoted(db, Math.max(maxOrphans, allowed) + pageSize));
  const max = Math.min(maxOrphans, Math.max(minAllowedOrphans, (sweep.checked * maxPercent) / 100));
  if (sweep.found > Math.max(max, allowed)) throw new OrphanSweepStopped(await stopSweep(db, sweep));
  await deleteOrphans(db, { onPage: () => onProgress({ ...sweep }), signal });
  await db.deleteFrom('orphan_sweep_stop').execute();
  return sweep.found;

  async function checkPage(): Promise<void> {
    const orphans = await findOrphans(db, page);
    sweep.checked += page.length;
    // Above the maximum, orphans are only counted.
    sweep.found += sweep.found > Math.max(maxOrphans, allowed) ? orphans.length : await noteOrphans(db, orphans);
    sweep.reached = page.at(-1) ?? sweep.reached;
    page = [];
    onProgress({ ...sweep });
  }
}

/** Returns how many are new: a sweep that continues begins a little before the last key. */
async function noteOrphans(db: Db, keys: string[]): Promise<number> {
  if (keys.length === 0) return 0;
  const rows = keys.map((key) => ({ key }));
  const noted = await db
    .insertInto('orphaned_object')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Number(noted.numInsertedOrUpdatedRows ?? 0);
}

/**
 * The number of noted orphans, counted up to `max`. A killed process may have noted more than its last report says, and those do not count
 * again when the next one finds them.
 */
async function countNoted(db: Db, max: number): Promise<number> {
  const { rows } = await sql<{ noted: number }>`
    select count(*) as noted from (select from orphaned_object limit ${max}) as bounded
  `.execute(db);
  return rows[0]?.noted ?? 0;
}

/** Moves the orphans to the objects to delete. Checks again that they have no row, since the sweep may have taken hours. */
async function deleteOrphans(db: Db, { onPage, signal }: { onPage: () => void; signal: AbortSignal }): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const page = await db.selectFrom('orphaned_object').select('key').orderBy('key').limit(pageSize).execute();
    if (page.length === 0) return;
    const keys = page.map(({ key }) => key);
    await inTransaction(db, async (trx) => {
      const orphans = await findOrphans(trx, keys);
      for (const [organizationId, own] of Map.groupBy(orphans, (key) => key.slice(0, key.indexOf('/')))) {
        await requestObjectDeletion(trx, organizationId, own);
      }
      await trx.deleteFrom('orphaned_object').where('key', 'in', keys).execute();
    });
    onPage();
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
