import { type Kysely, sql } from 'kysely';

/** What several API processes count together (`LIMITER_STORE=postgres`), and the index that counts failed jobs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // As rate-limiter-flexible reads and writes it. Unlogged: a crash of the database forgets counts of a minute, and each request is cheaper.
  `create unlogged table rate_limit (
    key varchar(255) primary key,
    points integer not null default 0,
    expire bigint
  )`,

  // One row for each place that a user's job streams take; the key is what keeps a sixth out.
  `create unlogged table job_stream_lease (
    user_id text not null,
    place integer not null check (place > 0),
    holder text not null,
    expires_at timestamptz(3) not null,
    primary key (user_id, place)
  )`,
  `create index job_stream_lease_expires on job_stream_lease (expires_at)`,

  `create index job_failed on job (finished_at) where status = 'failed'`,
];
