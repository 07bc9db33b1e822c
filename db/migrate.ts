import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import { advisoryLocks } from './advisory-locks.ts';
import type { Db } from './connect.ts';
import { migrations, type ShippedMigration } from './migrations/index.ts';
import { waitBriefly, withShortLocks } from './migrations/online.ts';
import type { Database } from './schema.ts';
import { applyTriggers, findPendingTriggers, shippedTriggers } from './triggers.ts';
import { isLockTimeout } from './unavailable.ts';

/** The differences between the shipped migrations and the applied ones. */
interface MigrationStatus {
  shipped: number;
  applied: number;
  pending: string[];
  unknown: number;
  latestApplied: string | null;
}

interface MigrateOptions {
  /** Called if a migration did not get a lock in time and is retried. */
  onBusy?: (migration: string) => void;
  /** Called if another process is applying migrations, and every half minute meanwhile, with the time waited so far. */
  onWait?: (waitedMs: number) => void;
  /** The migrations to apply; the shipped ones by default. */
  shipped?: Record<string, ShippedMigration>;
  /** The files of triggers; the shipped ones by default, and none if only some migrations are applied. */
  triggers?: Record<string, string>;
  /** The version of the service that ships them; this one by default. */
  version?: string;
}

/**
 * Applies the pending migrations one after another, then the functions and triggers whose text differs from the database's (`db/triggers.ts`).
 * Several processes may call it at once. A database that is ahead of this code is left as it is. A migration that does not get a lock
 * within half a second is tried again, for ten minutes.
 */
export async function migrate(db: Db, options: MigrateOptions = {}): Promise<void> {
  const { onBusy = () => {}, onWait = () => {}, shipped = migrations } = options;
  const files = options.triggers ?? (shipped === migrations ? shippedTriggers.files : {});
  const triggers = { ...shippedTriggers, files, ...(options.version && { version: options.version }) };
  await db.connection().execute(async (held) => {
    // A start without pending migrations does not wait.
    if ((await findNext(held, shipped)) === undefined && (await findPendingTriggers(held, triggers)).length === 0) return;
    await acquireLock(held, onWait);
    try {
      await refuseEarlierSchema(held, shipped);
      for (let name = await findNext(held, shipped); name !== undefined; name = await findNext(held, shipped)) {
        await applyPatiently(
          () => applyMigration(held, shipped, name),
          () => onBusy(name),
        );
      }
      for (const name of await findPendingTriggers(held, triggers)) {
        await applyPatiently(
          () => withShortLocks(held, (trx) => applyTriggers(trx, name, triggers)),
          () => onBusy(name),
        );
      }
    } finally {
      await sql`select pg_advisory_unlock(${advisoryLocks.migrations})`.execute(held);
    }
  });
}

const baseline = '0001-baseline';

/** Throws for a database of a version before the first release, whose migrations were folded into the baseline. */
async function refuseEarlierSchema(db: Db, shipped: Record<string, ShippedMigration>): Promise<void> {
  const applied = await findApplied(db);
  if (applied.length === 0 || applied.includes(baseline) || !(baseline in shipped)) return;
  throw new Error(
    `This database was made by a version before the first release, and cannot be upgraded (it has ${applied[0]}, and not ${baseline}). ` +
      'Use an empty database: with `npm start`, stop it and remove the directory `.data`; otherwise give DATABASE_URL a new one.',
  );
}

const busyPauseMs = 500;
const waitReportMs = 30_000;
const patienceMs = 10 * 60_000;

/** Polls for the lock: a statement that waits for it would block the building of indexes. */
async function acquireLock(db: Kysely<Database>, onWait: (waitedMs: number) => void): Promise<void> {
  const startedAt = performance.now();
  for (let reports = 0; !(await tryLock(db)); await sleep(busyPauseMs)) {
    const waitedMs = performance.now() - startedAt;
    if (waitedMs < reports * waitReportMs) continue;
    onWait(Math.round(waitedMs));
    reports++;
  }
}

async function tryLock(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_lock(${advisoryLocks.migrations}) as mine`.execute(db);
  return rows[0]?.mine === true;
}

async function findNext(db: Db, shipped: Record<string, ShippedMigration>): Promise<string | undefined> {
  const applied = await findApplied(db);
  return Object.keys(shipped)
    .sort()
    .find((name) => !applied.includes(name));
}

async function applyPatiently(apply: () => Promise<void>, onBusy: () => void): Promise<void> {
  for (const startedAt = performance.now(); ; await sleep(busyPauseMs)) {
    try {
      return await apply();
    } catch (error) {
      if (!isLockTimeout(error) || performance.now() - startedAt > patienceMs) throw error;
      onBusy();
    }
  }
}

async function applyMigration(db: Db, shipped: Record<string, ShippedMigration>, name: string): Promise<void> {
  const migrator = new Migrator({ db, provider: await createProvider(db, shipped), allowUnorderedMigrations: false });
  const { error } = await migrator.migrateUp({ disableTransactions: shipped[name]?.online === true });
  if (error) throw error;
}

/** Compares the shipped migrations and triggers with the applied ones; reads only. */
export async function getMigrationStatus(db: Db): Promise<MigrationStatus> {
  const applied = await findApplied(db);
  const shipped = Object.keys(migrations);
  return {
    shipped: shipped.length,
    applied: applied.length,
    pending: [...shipped.filter((name) => !applied.includes(name)), ...(await findPendingTriggers(db))],
    unknown: applied.filter((name) => !(name in migrations)).length,
    latestApplied: applied.at(-1) ?? null,
  };
}

async function createProvider(db: Db, shipped: Record<string, ShippedMigration>): Promise<MigrationProvider> {
  // Kysely refuses to run if the database has migrations that this code lacks, so these get empty ones.
  const unknown = (await findApplied(db)).filter((name) => !(name in shipped));
  const placeholders = Object.fromEntries(unknown.map((name) => [name, { up: async () => {} } satisfies Migration]));
  const careful = Object.fromEntries(Object.entries(shipped).map(([name, migration]) => [name, waitingBriefly(migration)]));
  return { getMigrations: async () => ({ ...careful, ...placeholders }) };
}

function waitingBriefly(migration: ShippedMigration): Migration {
  if (migration.online) return migration;
  return {
    up: async (trx) => {
      await waitBriefly(trx);
      await migration.up(trx);
    },
  };
}

async function findApplied(db: Kysely<never> | Db): Promise<string[]> {
  const table = await sql<{ found: string | null }>`select to_regclass('kysely_migration')::text as found`.execute(db);
  if (!table.rows[0]?.found) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map((row) => row.name);
}
