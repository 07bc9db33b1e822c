import { type Kysely, sql } from 'kysely';

/** Changes of address that wait for their links, and the devices that users have signed in with. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table email_change (
      user_id text primary key references "user" (id) on delete cascade,
      new_email text not null,
      token_hash text not null unique,
      confirmed boolean not null,
      expires_at timestamptz(3) not null
    )
  `.execute(db);
  await sql`
    create table known_device (
      user_id text not null references "user" (id) on delete cascade,
      fingerprint text not null,
      seen_at timestamptz(3) not null default now(),
      primary key (user_id, fingerprint)
    )
  `.execute(db);
}
