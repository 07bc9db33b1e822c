create or replace function raise_rule(code text, data jsonb default '{}') returns void
  language plpgsql as $$
    begin
      raise exception using errcode = 'SHEAF', message = code, detail = data::text;
    end $$;

create or replace function refuse_suspended(of_organization text) returns void
  language plpgsql as $$
    begin
      perform raise_rule('ORGANIZATION_SUSPENDED', jsonb_build_object('reason', reason, 'since', since))
        from organization_suspension where organization_id = of_organization;
    end $$;

-- docs/rules.md, lock order: the organization's lock. Says whether it is being deleted; null if it is gone. These are two statements,
-- since one that waited for the lock would not see a deletion that was requested meanwhile.
create or replace function lock_organization(of_organization text) returns boolean
  language plpgsql as $$
    begin
      perform from organization where id = of_organization for no key update;
      if not found then
        return null;
      end if;
      return exists (select from organization_deletion where organization_id = of_organization);
    end $$;

-- One that is being deleted or is suspended takes no more writes.
create or replace function lock_live_organization(organization_id text) returns void
  language plpgsql as $$
    begin
      if lock_organization(organization_id) then
        perform raise_rule('ORGANIZATION_BEING_DELETED');
      end if;
      perform refuse_suspended(organization_id);
    end $$;

create or replace function after_organization_change() returns trigger language plpgsql as $$
  begin
    perform record_auth_change(new.id, case tg_op when 'INSERT' then 'organization.create' else 'organization.update' end,
      'organization', new.id, jsonb_build_object('name', new.name, 'slug', new.slug));
    return null;
  end $$;
create or replace trigger after_organization_insert after insert on organization for each row execute function after_organization_change();
create or replace trigger after_organization_update after update on organization for each row
  when ((old.name, old.slug, old.logo, old.metadata) is distinct from (new.name, new.slug, new.logo, new.metadata))
  execute function after_organization_change();

-- Members and teams may be removed, and invitations end.
create or replace function refuse_suspended_change() returns trigger language plpgsql as $$
  declare
    changed jsonb := to_jsonb(new);
  begin
    perform refuse_suspended(coalesce(changed ->> 'organizationId',
      (select "organizationId" from team where id = changed ->> 'teamId'), changed ->> 'id'));
    return new;
  end $$;
create or replace trigger refuse_suspended_update before update of name, slug, logo, metadata on organization for each row
  execute function refuse_suspended_change();
create or replace trigger refuse_suspended_update before update of role on member for each row execute function refuse_suspended_change();
create or replace trigger refuse_suspended_update before update of name on team for each row execute function refuse_suspended_change();
create or replace trigger refuse_suspended_insert before insert on "teamMember" for each row execute function refuse_suspended_change();

create or replace function after_organization_owned() returns trigger language plpgsql as $$
  declare
    creator text := nullif(current_setting('sheaf.actor', true), '')::jsonb ->> 'userId';
  begin
    if creator is not null then
      perform require_organization(creator);
      insert into organization_without_owner (organization_id, user_id) values (new.id, creator);
    end if;
    return null;
  end $$;
create or replace trigger after_organization_owned after insert on organization for each row execute function after_organization_owned();

-- The service audits its own deletions with their actor; this audits all others.
create or replace function before_organization_delete() returns trigger language plpgsql as $$
  begin
    perform raise_rule('LEGAL_HOLD', jsonb_build_object('reason', reason, 'since', since)) from legal_hold where organization_id = old.id limit 1;
    if not exists (select from organization_deletion where organization_id = old.id) then
      perform record_auth_change(old.id, 'organization.delete', 'organization', old.id,
        jsonb_build_object('name', old.name, 'slug', old.slug));
    end if;
    return old;
  end $$;
create or replace trigger before_organization_delete before delete on organization for each row execute function before_organization_delete();
