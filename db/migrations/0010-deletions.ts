import { type Kysely, sql } from 'kysely';

/**
 * Workspaces, documents and users that go at once, however many rows refer to them. A workspace's row goes with the request, and whatever
 * else it had is drained later: its jobs and documents refer to it without a foreign key, which would have to follow each of them first. So
 * do jobs to their document, and both to the user who made them. Readers show none of these that is gone. Nothing here reads a table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table workspace_deletion (
    workspace_id text primary key,
    organization_id text not null references organization (id) on delete cascade,
    requested_by text,
    created_at timestamptz(3) not null default now()
  )`,
  `create index workspace_deletion_organization on workspace_deletion (organization_id)`,

  `alter table document drop constraint document_workspace_id_fkey, drop constraint document_uploaded_by_fkey`,
  `alter table job drop constraint job_workspace_id_fkey, drop constraint job_document_id_fkey, drop constraint job_created_by_fkey`,

  // Names this database to the store, whose marker names the deployment that may delete there.
  `create table deployment (
    one boolean primary key default true check (one),
    id text not null default gen_random_uuid()::text
  )`,
  `insert into deployment default values`,

  // Objects without a document that the sweep has found and not deleted yet, and why it has not.
  `create table orphaned_object (key text primary key)`,
  `create table orphan_sweep_stop (
    one boolean primary key default true check (one),
    checked bigint not null,
    found bigint not null,
    allowed bigint not null default 0,
    stopped_at timestamptz(3) not null default now()
  )`,

  // What is left of the foreign keys: a new row names a workspace of its organization, which stays until the transaction ends.
  `create function require_workspace() returns trigger language plpgsql as $$
     begin
       perform from workspace where id = new.workspace_id and organization_id = new.organization_id for key share;
       if not found then
         raise exception 'there is no workspace % of organization %', new.workspace_id, new.organization_id
           using errcode = 'foreign_key_violation', constraint = tg_name;
       end if;
       return new;
     end $$`,
  `create trigger document_workspace before insert or update of workspace_id, organization_id on document
     for each row execute function require_workspace()`,
  `create trigger job_workspace before insert or update of workspace_id, organization_id on job
     for each row when (new.workspace_id is not null) execute function require_workspace()`,
];
