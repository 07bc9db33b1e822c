import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { until } from './processes.ts';

/** The variables of an API whose requests do not give up a lock or a connection within seconds. */
export const patientLocks = { NODE_OPTIONS: '--import=./test/support/patient-locks.ts' };

interface Waiting {
  pid: number;
  /** The statement that waits. */
  query: string;
}

/** Waits until so many connections of the API wait for a lock in a test's database, and returns them, the longest wait first. */
export async function untilWaiting(db: Db, count: number): Promise<Waiting[]> {
  let waiting: Waiting[] = [];
  await until(async () => {
    const { rows } = await sql<Waiting>`
      select pid, query from pg_stat_activity
      where datname = current_database() and application_name = 'sheaf api' and wait_event_type = 'Lock'
      order by query_start
    `.execute(db);
    waiting = rows;
    return rows.length >= count;
  });
  return waiting;
}
