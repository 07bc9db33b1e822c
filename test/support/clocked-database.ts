import { createTestDatabase, type TestDatabase } from './database.ts';

/** A database whose clock stands still until a test moves it. */
export interface ClockedDatabase extends TestDatabase {
  /** Sets the time of every transaction that begins from now on, with milliseconds. */
  setTime(at: Date): Promise<void>;
}

const statements = [
  `create table test_clock (at timestamptz not null)`,
  `insert into test_clock values (pg_catalog.now())`,
  `create function public.now() returns timestamptz language sql stable as $$ select at from public.test_clock $$`,
  `create function public.clock_timestamp() returns timestamptz language sql stable as $$ select at from public.test_clock $$`,
];

/**
 * Makes a migrated database in which `now()` and `clock_timestamp()` are functions of the test: they come before Postgres' own in the
 * search path, so that defaults, triggers and every query use them, and no code has to know.
 */
export async function createClockedDatabase(options: { poolSize?: number; timeZone?: string } = {}): Promise<ClockedDatabase> {
  const { poolSize = 10, timeZone = 'UTC' } = options;
  const database = await createTestDatabase({
    poolSize,
    settings: { search_path: 'public, pg_catalog', timezone: `'${timeZone}'` },
    prepared: { name: 'clocked', statements },
  });
  return {
    ...database,
    async setTime(at) {
      await database.pool.query('update test_clock set at = $1', [at.toISOString()]);
    },
  };
}
