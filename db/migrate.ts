import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import pg from 'pg';
import type { Db } from './connect.ts';
import { migrations } from './migrations/index.ts';

const lockRetryMs = 1_000;

/** How the shipped migrations and the applied ones compare. */
export interface MigrationStatus {
  shipped: number;
  applied: number;
  pending: string[];
  unknown: number;
  latestApplied: string | null;
}

/**
 * Applies every migration that is pending; several processes may call it at once. Migrations are forward-only.
 * A database that is ahead of this code (a rollback of code) is left as it is.
 */
export async function migrate(db: Db): Promise<void> {
  for (;;) {
    const { error } = await new Migrator({ db, provider: await createProvider(db), allowUnorderedMigrations: false }).migrateToLatest();
    if (!error) return;
    if (!isLockTimeout(error)) throw error;
    // Those who were queued behind the lock get their turn before it is asked for again.
    await delay(lockRetryMs);
  }
}

/** Another process migrates, or long transactions hold the table. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

/** Compares the shipped migrations with the applied ones; reads only. */
export async function getMigrationStatus(db: Db): Promise<MigrationStatus> {
  const applied = await findApplied(db);
  const shipped = Object.keys(migrations);
  return {
    shipped: shipped.length,
    applied: applied.length,
    pending: shipped.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !(name in migrations)).length,
    latestApplied: applied.at(-1) ?? null,
  };
}

async function createProvider(db: Db): Promise<MigrationProvider> {
  // Kysely refuses to run if the database has a migration that the code has not: these get an empty one.
  const unknown = (await findApplied(db)).filter((name) => !(name in migrations));
  const placeholders = Object.fromEntries(unknown.map((name) => [name, { up: async () => {} } satisfies Migration]));
  return { getMigrations: async () => ({ ...migrations, ...placeholders }) };
}

async function findApplied(db: Kysely<never> | Db): Promise<string[]> {
  const table = await sql<{ found: string | null }>`select to_regclass('kysely_migration')::text as found`.execute(db);
  if (!table.rows[0]?.found) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map((row) => row.name);
}
