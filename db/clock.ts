import { sql } from 'kysely';
import type { Db } from './connect.ts';

/** The clock of the database, which processes on several hosts share (docs/rules.md, the database's clock). */
interface DatabaseClock {
  /** The database's time, to a few milliseconds. */
  now(): Date;
  /** Stops comparing. */
  stop(): void;
}

const compareMs = 60_000;

/**
 * Follows the database's clock: queries its time now and then, and continues it by a monotonic clock. Throws if the first query fails;
 * later the last result counts.
 */
export async function followClock(db: Db): Promise<DatabaseClock> {
  let aheadMs = await compare(db);
  const timer = setInterval(() => {
    void compare(db).then(
      (ms) => {
        aheadMs = ms;
      },
      () => {},
    );
  }, compareMs).unref();
  return { now: () => new Date(performance.now() + aheadMs), stop: () => clearInterval(timer) };
}

/** How far the database's clock is ahead of that of this process, in milliseconds. */
export async function measureSkewMs(db: Db): Promise<number> {
  return (await compare(db)) + performance.now() - Date.now();
}

/**
 * How far the database's clock is ahead of `performance.now()`, in milliseconds. Assumes that the request and the response took the same
 * time.
 */
async function compare(db: Db): Promise<number> {
  const askedAt = performance.now();
  const { rows } = await sql<{ ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db);
  const answeredAt = performance.now();
  return (rows[0]?.ms ?? 0) - (askedAt + answeredAt) / 2;
}
