-- Measures the JSON text: the size of the column says little, since a text may compress to a hundredth.
create or replace function measure_job_input() returns trigger language plpgsql as $$
  begin
    new.input_bytes := octet_length(new.input::text);
    return new;
  end $$;
create or replace trigger measure_job_input before insert or update of input on job
  for each row execute function measure_job_input();

create or replace function measure_job_result() returns trigger language plpgsql as $$
  begin
    new.result_bytes := octet_length(new.result::text);
    return new;
  end $$;
create or replace trigger measure_job_result before insert or update of result on job
  for each row execute function measure_job_result();

-- A stream of a deleted workspace still reports how its jobs ended. This is a trigger because a foreign key may also clear the column.
create or replace function note_former_workspace() returns trigger language plpgsql as $$
  begin
    new.former_workspace_id := old.workspace_id;
    return new;
  end $$;
create or replace trigger job_left_workspace before update of workspace_id on job for each row
  when (old.workspace_id is not null and new.workspace_id is null)
  execute function note_former_workspace();

-- docs/rules.md, notifications may be lost: they carry ids only. `organization job job …`, or `organization *` for too many to name.
create or replace function notify_new_jobs() returns trigger language plpgsql as $$
     begin
       perform pg_notify('job_changed', organization_id || ' ' ||
  case when count(*) > 100 then '*' else string_agg(id, ' ') end) from after group by organization_id;
       return null;
     end $$;
create or replace trigger job_inserted after insert on job referencing new table as after
  for each statement execute function notify_new_jobs();

create or replace function notify_changed_jobs() returns trigger language plpgsql as $$
     begin
       perform pg_notify('job_changed', organization_id || ' ' ||
  case when count(*) > 100 then '*' else string_agg(id, ' ') end) from (
         select after.id, after.organization_id from after join before using (id)
         where after.status <> before.status or after.workspace_id is distinct from before.workspace_id
           or after.stages is distinct from before.stages
           or (after.waiting_since is null) <> (before.waiting_since is null)
       ) as changed group by organization_id;
       return null;
     end $$;
create or replace trigger job_updated after update on job referencing old table as before new table as after
  for each statement execute function notify_changed_jobs();
