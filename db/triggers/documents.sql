-- This replaces a foreign key: a new row names a workspace of its organization, which stays until the transaction ends.
create or replace function require_workspace() returns trigger language plpgsql as $$
  begin
    perform from workspace where id = new.workspace_id and organization_id = new.organization_id for key share;
    if not found then
      raise exception 'there is no workspace % of organization %', new.workspace_id, new.organization_id
        using errcode = 'foreign_key_violation', constraint = tg_name;
    end if;
    return new;
  end $$;
create or replace trigger document_workspace before insert or update of workspace_id, organization_id on document
  for each row execute function require_workspace();
create or replace trigger job_workspace before insert or update of workspace_id, organization_id on job
  for each row when (new.workspace_id is not null) execute function require_workspace();

create or replace function expect_late_upload() returns trigger language plpgsql as $$
  begin
    insert into late_upload (key, organization_id) values (old.object_key, old.organization_id)
      on conflict (key) do update set due_at = excluded.due_at;
    return null;
  end $$;
create or replace trigger expect_late_upload after delete on document for each row
  when (old.status = 'pending' or old.created_at > now() - interval '48 hours') execute function expect_late_upload();
create or replace trigger expect_late_upload_of_version after update of object_key on document for each row
  when (new.object_key <> old.object_key) execute function expect_late_upload();
