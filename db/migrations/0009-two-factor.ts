import { type Kysely, sql } from 'kysely';

/** The second factor of users. Secret and codes are encrypted (better-auth, with a key that is derived from `AUTH_SECRET`). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table "twoFactor" (
      id text primary key,
      secret text not null,
      "backupCodes" text not null,
      "userId" text not null references "user" (id) on delete cascade,
      verified boolean default true,
      "failedVerificationCount" integer default 0,
      "lockedUntil" timestamptz(3)
    )
  `.execute(db);
  await sql`create unique index "twoFactor_userId_idx" on "twoFactor" ("userId")`.execute(db);
  await sql`create index "twoFactor_secret_idx" on "twoFactor" (secret)`.execute(db);
  await sql`alter table "user" add column "twoFactorEnabled" boolean default false`.execute(db);
}
