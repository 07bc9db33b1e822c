import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Storage } from '../../storage/port.ts';
import { findStop, OrphanSweepStopped, stopSweep } from './orphan-sweep-stop.ts';
import { requestObjectDeletion } from './request-object-deletion.ts';
import { checkStoreOwner } from './store-owner.ts';

/** The row of a younger object may not be committed yet, or its upload may be under way. */
const youngestMs = 24 * 60 * 60 * 1_000;
const pageSize = 500;
const youngPerReport = 1_000;

/** More orphans than this are no leftovers: the database is not the store's, or has lost rows. */
const mostOrphans = 1_000;
const mostPercent = 1;
/** A few may always go, also in a small store. */
const fewOrphans = 10;

/** How far a sweep has come. */
export interface OrphanSweep {
  /** The last key that was checked; undefined at the beginning. */
  reached?: string;
  checked: number;
  found: number;
}

/**
 * Finds stored objects without a document, and requests their deletion once the whole store was checked. Goes on where `before` says. Returns
 * how many there were. Throws {@link OrphanSweepStopped}, with nothing deleted, if there are more than 1,000 or more than 1 % of what was
 * checked, unless an operator has allowed as many; StoreOfAnotherDeployment if the store is not this deployment's.
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
      // They fill no page, and there may be millions of them.
      if (++young % youngPerReport === 0) onProgress({ ...sweep });
      continue;
    }
    page.push(key);
    if (page.length === pageSize) await checkPage();
  }
  await checkPage();
  sweep.found = Math.max(sweep.found, await countNoted(db, Math.max(mostOrphans, allowed) + pageSize));
  const most = Math.min(mostOrphans, Math.max(fewOrphans, (sweep.checked * mostPercent) / 100));
  if (sweep.found > Math.max(most, allowed)) throw new OrphanSweepStopped(await stopSweep(db, sweep));
  await deleteOrphans(db, { onPage: () => onProgress({ ...sweep }), signal });
  await db.deleteFrom('orphan_sweep_stop').execute();
  return sweep.found;

  async function checkPage(): Promise<void> {
    const orphans = await findOrphans(db, page);
    sweep.checked += page.length;
    // More than may be deleted are only counted.
    sweep.found += sweep.found > Math.max(mostOrphans, allowed) ? orphans.length : await noteOrphans(db, orphans);
    sweep.reached = page.at(-1) ?? sweep.reached;
    page = [];
    onProgress({ ...sweep });
  }
}

/** Returns how many were not noted before: a sweep that goes on begins a little before the last key. */
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
 * How many orphans are noted, counted no further than `most`. A process that was killed may have noted more than its last report says, and
 * those are not counted when they are met again.
 */
async function countNoted(db: Db, most: number): Promise<number> {
  const { rows } = await sql<{ noted: number }>`
    select count(*) as noted from (select from orphaned_object limit ${most}) as bounded
  `.execute(db);
  return rows[0]?.noted ?? 0;
}

/** Moves the orphans to the objects to delete. Rows are looked for again: the sweep may have taken hours. */
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
