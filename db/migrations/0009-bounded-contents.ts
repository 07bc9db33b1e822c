import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/**
 * The sizes of what jobs hold, so that a page of them can be bounded before it is read; texts that nothing needs any more go; one notification for the jobs that a statement
 * changes; and indexes for what operators ask.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    for (const statement of [...sizes, ...shortening, ...notifications]) await sql.raw(statement).execute(trx);
  });
  await createIndexes(db, {
    // A replay reads failed jobs by their id, a page at a time.
    job_failed_id: `on job (id) where status = 'failed'`,
    object_to_delete_created: 'on object_to_delete (created_at)',
    object_to_delete_refused_at: 'on object_to_delete (created_at) where attempts > 0',
    // The order of the list of organizations.
    organization_name: 'on organization (lower(name), id)',
  });
}

const sizes = [
  // Null in rows from before, whose contents are measured when they are read: they are gone after 30 days.
  `alter table job add column if not exists input_bytes integer, add column if not exists result_bytes integer`,
  // As JSON: what a column takes up says little, since a text may compress to a hundredth.
  `create or replace function measure_job_input() returns trigger language plpgsql as $$
     begin
       new.input_bytes := octet_length(new.input::text);
       return new;
     end $$`,
  `create or replace function measure_job_result() returns trigger language plpgsql as $$
     begin
       new.result_bytes := octet_length(new.result::text);
       return new;
     end $$`,
  `create or replace trigger measure_job_input before insert or update of input on job
     for each row execute function measure_job_input()`,
  `create or replace trigger measure_job_result before insert or update of result on job
     for each row execute function measure_job_result()`,
];

/** Texts that together are larger than this, in bytes of JSON, are shortened to so many characters together. */
const [keptBytes, keptCharacters] = [4_096, 1_000];

const shortening = [
  // docs/decisions/job-contents.md
  `create or replace function shorten_job_texts(input jsonb) returns jsonb language sql immutable as $$
     select case
       when octet_length(input::text) <= ${keptBytes} then input
       when input ? 'text' then input || jsonb_build_object('text', left(input ->> 'text', ${keptCharacters}))
       when input ? 'texts' then input || jsonb_build_object('texts', (
         select jsonb_agg(left(text, ${keptCharacters} / jsonb_array_length(input -> 'texts')) order by number)
         from jsonb_array_elements_text(input -> 'texts') with ordinality as texts (text, number)
       ))
       else input
     end $$`,
  `create or replace function let_go_of_job_texts() returns trigger language plpgsql as $$
     begin
       new.input := shorten_job_texts(new.input);
       new.input_bytes := octet_length(new.input::text);
       return new;
     end $$`,
  // A canceled job is never tried again. What a workspace's jobs were given goes with the workspace.
  `create or replace trigger let_go_of_job_texts before update of status on job for each row
     when (old.status <> new.status and (new.status = 'canceled' or (new.status = 'failed' and new.error_code = 'workspace_missing')))
     execute function let_go_of_job_texts()`,
];

/** Postgres allows 8,000 bytes in a notification. */
const idsPerNotification = 100;
const notify = `perform pg_notify('job_changed', organization_id || ' ' ||
  case when count(*) > ${idsPerNotification} then '*' else string_agg(id, ' ') end)`;

const notifications = [
  // docs/rules.md, notifications may be lost: they carry ids only. `organization job job …`, or `organization *` for too many to name.
  `create or replace function notify_new_jobs() returns trigger language plpgsql as $$
     begin
       ${notify} from after group by organization_id;
       return null;
     end $$`,
  `create or replace function notify_changed_jobs() returns trigger language plpgsql as $$
     begin
       ${notify} from (
         select after.id, after.organization_id from after join before using (id)
         where after.status <> before.status or after.workspace_id is distinct from before.workspace_id
       ) as changed group by organization_id;
       return null;
     end $$`,
  `drop trigger if exists job_inserted on job`,
  `drop trigger if exists job_updated on job`,
  `create trigger job_inserted after insert on job referencing new table as after
     for each statement execute function notify_new_jobs()`,
  `create trigger job_updated after update on job referencing old table as before new table as after
     for each statement execute function notify_changed_jobs()`,
];
