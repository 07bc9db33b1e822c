import { type Kysely, sql } from 'kysely';

/** The replays that operators have asked for, and the first run of each one's workflow; null until it has begun. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table job_replay (
    id text primary key,
    input jsonb not null,
    run text unique,
    created_at timestamptz(3) not null default now()
  )`.execute(db);
}
