import { type Kysely, sql } from 'kysely';

/**
 * A job remembers the workspace that was deleted, so that a stream of that workspace can tell how its jobs ended. A trigger notes it,
 * since the workspace may also be deleted by the version before, or by a reference.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table job add column former_workspace_id text`,
  `create index job_former_workspace on job (former_workspace_id) where former_workspace_id is not null`,
  `create function note_former_workspace() returns trigger language plpgsql as $$
     begin
       new.former_workspace_id := old.workspace_id;
       return new;
     end $$`,
  `create trigger job_left_workspace before update of workspace_id on job for each row
     when (old.workspace_id is not null and new.workspace_id is null)
     execute function note_former_workspace()`,
];
