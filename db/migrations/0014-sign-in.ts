import { type Kysely, sql } from 'kysely';

/** Passwords that a platform admin set, and what a second factor remembers of its use. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table account add column "setByAdmin" boolean not null default false`.execute(db);
  await sql`
    alter table "twoFactor"
      add column "lastStep" bigint not null default 0,
      add column "sessionId" text
  `.execute(db);
  await sql`alter table verification add column "userAgent" text`.execute(db);
}
