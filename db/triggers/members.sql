-- The first member is the organization's creator: every plan has a seat for them.
create or replace function before_member_insert() returns trigger language plpgsql as $$
  declare
    members bigint;
    accepted text;
  begin
    perform lock_live_organization(new."organizationId");
    update invitation set "seatHeldUntil" = null
      from "user"
      where "user".id = new."userId" and lower(invitation.email) = lower("user".email)
        and "organizationId" = new."organizationId" and status = 'accepted' and "seatHeldUntil" > now()
      returning invitation.id into accepted;
    if accepted is not null then
      perform record_auth_change(new."organizationId", 'invitation.accept', 'invitation', accepted, null);
    else
      members := count_members(new."organizationId");
      if members > 0 then
        perform require_seat(new."organizationId", members + count_invitations(new."organizationId"));
      end if;
    end if;
    perform record_auth_change(new."organizationId", 'member.add', 'member', new.id,
      jsonb_build_object('userId', new."userId", 'role', new.role, 'invitationId', accepted));
    return new;
  end $$;
create or replace trigger before_member_insert before insert on member for each row execute function before_member_insert();

-- Runs after before_member_insert, which takes the organization's lock.
create or replace function before_member_owns() returns trigger language plpgsql as $$
  declare
    creator text;
  begin
    if tg_op = 'INSERT' then
      delete from organization_without_owner where organization_id = new."organizationId" returning user_id into creator;
      if creator = new."userId" then
        return new;
      end if;
    else
      perform lock_live_organization(new."organizationId");
    end if;
    perform require_organization(new."userId");
    return new;
  end $$;
create or replace trigger before_member_owns_insert before insert on member for each row
  when (new.role ~ '\yowner\y') execute function before_member_owns();
create or replace trigger before_member_owns_update before update of role on member for each row
  when (new.role ~ '\yowner\y' and old.role !~ '\yowner\y') execute function before_member_owns();

-- An organization always has an owner. This is checked under its lock, so that two owners cannot both leave; nothing is
-- checked if the organization itself is deleted.
create or replace function after_member_change() returns trigger language plpgsql as $$
  declare
    lost_owner boolean := old.role ~ '\yowner\y' and (tg_op = 'DELETE' or new.role !~ '\yowner\y');
  begin
    perform from organization where id = old."organizationId" for no key update;
    if not found then
      return null;
    end if;
    if lost_owner and not exists (
      select from member where "organizationId" = old."organizationId" and role ~ '\yowner\y'
    ) then
      perform raise_rule(case
        when exists (select from organization_deletion where organization_id = old."organizationId")
        then 'OWNED_ORGANIZATION_BEING_DELETED' else 'LAST_OWNER' end);
    end if;
    if tg_op = 'DELETE' then
      -- Their keys stay suspended until another member rotates them, also if they come back.
      update api_key set responsible_id = nullif(responsible_id, old."userId"),
          previous_responsible_id = nullif(previous_responsible_id, old."userId")
        where organization_id = old."organizationId" and old."userId" in (responsible_id, previous_responsible_id);
      perform record_auth_change(old."organizationId", 'member.remove', 'member', old.id,
        jsonb_build_object('userId', old."userId", 'role', old.role));
    else
      perform record_auth_change(old."organizationId", 'member.update', 'member', old.id,
        jsonb_build_object('userId', old."userId", 'from', old.role, 'to', new.role));
    end if;
    return null;
  end $$;
create or replace trigger after_member_delete after delete on member for each row execute function after_member_change();
create or replace trigger after_member_update after update on member for each row
  when (old.role is distinct from new.role) execute function after_member_change();

create or replace function store_roles_once() returns trigger language plpgsql as $$
  begin
    select string_agg(role, ',' order by first) into new.role
      from (select role, min(at) as first from unnest(string_to_array(new.role, ',')) with ordinality as given(role, at) group by role) as once;
    return new;
  end $$;
create or replace trigger invitation_roles_once before insert or update of role on invitation for each row
  when (new.role like '%,%') execute function store_roles_once();
create or replace trigger member_roles_once before insert or update of role on member for each row
  when (new.role like '%,%') execute function store_roles_once();
