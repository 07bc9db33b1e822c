import { type Kysely, sql } from 'kysely';

/** The plan or single limits that an operator has given an organization by hand, until when, and why. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table plan_override (
    organization_id text primary key references organization (id) on delete cascade,
    plan text,
    limits jsonb not null default '{}',
    until timestamptz(3) not null,
    reason text not null
  )`.execute(db);
}
