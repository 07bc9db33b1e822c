import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** What jobs need and is known to be down, and the jobs that wait for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`create table if not exists provider_outage (
      part text primary key,
      cause text not null,
      since timestamptz(3) not null default clock_timestamp(),
      next_probe_at timestamptz(3) not null,
      probing_until timestamptz(3),
      failed_probes integer not null default 0,
      successes integer not null default 0,
      admits integer not null default 0,
      next_slot_at timestamptz(3) not null default clock_timestamp()
    )`.execute(trx);
    await sql`alter table job add column if not exists waits_for text, add column if not exists waiting_since timestamptz(3)`.execute(trx);
  });
  await createIndexes(db, { job_waiting: "on job (waits_for) where status = 'queued' and waiting_since is not null" });
}
