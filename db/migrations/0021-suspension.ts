import { type Kysely, sql } from 'kysely';

/** Organizations that an operator has suspended, and why. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table organization_suspension (
    organization_id text primary key references organization (id) on delete cascade,
    reason text not null,
    since timestamptz(3) not null default now()
  )`.execute(db);
}
