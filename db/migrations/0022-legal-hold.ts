import { type Kysely, sql } from 'kysely';

/** What an organization must keep, all or one workspace, and why. The keys let no other way delete it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table legal_hold (
    organization_id text not null references organization (id),
    workspace_id text references workspace (id),
    reason text not null,
    since timestamptz(3) not null default now(),
    constraint legal_hold_once unique nulls not distinct (organization_id, workspace_id)
  )`.execute(db);
  await sql`create index legal_hold_workspace on legal_hold (workspace_id)`.execute(db);
}
