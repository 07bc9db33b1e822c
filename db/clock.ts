import { sql } from 'kysely';
import type { Db } from './connect.ts';

/** The clock of the database, which processes on several hosts share (docs/rules.md, the database's clock). */
export interface DatabaseClock {
  /** The time there, to a few milliseconds. */
  now(): Date;
  /** Compares no more. */
  stop(): void;
}

const compareMs = 60_000;

/**
 * Follows the database's clock: its time is asked for now and then, and counted on by a clock that nobody sets. Throws if it cannot be
 * asked the first time; later the last answer counts.
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

/** By how much the database's clock is ahead of `performance.now()`, in milliseconds. The answer took as long to come as the question. */
async function compare(db: Db): Promise<number> {
  const askedAt = performance.now();
  const { rows } = await sql<{ ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db);
  const answeredAt = performance.now();
  return (rows[0]?.ms ?? 0) - (askedAt + answeredAt) / 2;
}
