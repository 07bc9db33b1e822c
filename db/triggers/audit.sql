-- The actor comes from a setting of the transaction (db/actor.ts).
create or replace function record_auth_change(organization text, action text, target_type text, target_id text, metadata jsonb)
  returns void language plpgsql as $$
    declare
      actor jsonb := nullif(current_setting('sheaf.actor', true), '')::jsonb;
    begin
      insert into audit_entry
        (id, organization_id, actor_id, actor_email, impersonated_by, action, target_type, target_id, metadata)
      values
        (new_audit_id(), organization, actor ->> 'userId', actor ->> 'email', actor ->> 'impersonatedBy',
         action, target_type, target_id, jsonb_strip_nulls(metadata));
    end $$;

-- UUID version 7 with microseconds, so that the entries of one transaction keep their order.
create or replace function new_audit_id() returns text
  language plpgsql volatile as $$
    declare
      microseconds bigint := floor(extract(epoch from clock_timestamp()) * 1000000);
      id bytea := uuid_send(gen_random_uuid());
    begin
      id := overlay(id placing substring(int8send(microseconds / 1000) from 3) from 1 for 6);
      id := overlay(id placing substring(int4send(28672 + (microseconds % 1000)::integer * 4) from 3) from 7 for 2);
      return encode(id, 'hex')::uuid::text;
    end $$;

-- True if the actor was an admin when the request began, or is one now: better-auth checks the role at some moment in between.
create or replace function is_platform_admin_acting() returns boolean
  language sql stable as $$
    select actor ->> 'impersonatedBy' is not null or actor ->> 'role' = 'admin'
      or exists (select from "user" where id = actor ->> 'userId' and role = 'admin')
    from (select nullif(current_setting('sheaf.actor', true), '')::jsonb as actor) as setting
    where actor is not null
  $$;

-- An impersonated session belongs to the user, but the admin acts in it.
create or replace function is_platform_admin_acting_on(of_user text) returns boolean
  language sql stable as $$
    select is_platform_admin_acting() and (actor ->> 'impersonatedBy' is not null or actor ->> 'userId' <> of_user)
    from (select nullif(current_setting('sheaf.actor', true), '')::jsonb as actor) as setting
  $$;

create or replace function audit_password() returns trigger language plpgsql as $$
  begin
    if is_platform_admin_acting_on(new."userId") then
      perform record_auth_change(null, 'user.password', 'user', new."userId", null);
    end if;
    return null;
  end $$;
create or replace trigger audit_password_insert after insert on account for each row
  when (new.password is not null and current_setting('sheaf.actor', true) <> '') execute function audit_password();
create or replace trigger audit_password_update after update of password on account for each row
  when (old.password is distinct from new.password and current_setting('sheaf.actor', true) <> '') execute function audit_password();

create or replace function audit_session() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then
      perform record_auth_change(null, 'impersonation.start', 'user', new."userId", jsonb_build_object('sessionId', new.id));
    elsif old."impersonatedBy" is not null then
      perform record_auth_change(null, 'impersonation.stop', 'user', old."userId",
        jsonb_build_object('sessionId', old.id, 'startedBy', old."impersonatedBy"));
    elsif current_setting('sheaf.ends_oldest_sessions', true) is distinct from 'on' and is_platform_admin_acting_on(old."userId") then
      perform record_auth_change(null, 'session.revoke', 'session', old.id, jsonb_build_object('userId', old."userId"));
    end if;
    return null;
  end $$;
-- Deleting an expired session is not audited.
create or replace trigger audit_session_delete after delete on session for each row
  when (old."expiresAt" > now() and current_setting('sheaf.actor', true) <> '') execute function audit_session();
create or replace trigger audit_session_insert after insert on session for each row
  when (new."impersonatedBy" is not null and current_setting('sheaf.actor', true) <> '') execute function audit_session();

create or replace function audit_user_change() returns trigger language plpgsql as $$
  declare
    is_banned boolean := coalesce(new.banned, false);
    changed jsonb := '{}';
  begin
    if not coalesce(is_platform_admin_acting(), false) then
      return null;
    end if;
    if old.role is distinct from new.role then
      perform record_auth_change(null, 'user.role', 'user', new.id, jsonb_build_object('from', old.role, 'to', new.role));
    end if;
    if is_banned and (old.banned, old."banReason", old."banExpires") is distinct from (new.banned, new."banReason", new."banExpires") then
      perform record_auth_change(null, 'user.ban', 'user', new.id,
        jsonb_build_object('reason', new."banReason", 'until', to_char(new."banExpires" at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
    elsif coalesce(old.banned, false) and not is_banned then
      perform record_auth_change(null, 'user.unban', 'user', new.id, null);
    end if;
    if is_platform_admin_acting_on(new.id) then
      select coalesce(jsonb_object_agg(after.key, jsonb_build_object('from', before.value, 'to', after.value)), '{}') into changed
        from jsonb_each(to_jsonb(new)) as after
        join jsonb_each(to_jsonb(old)) as before using (key)
        where key in ('name', 'email', 'emailVerified', 'image') and before.value <> after.value;
      if changed <> '{}' then
        perform record_auth_change(null, 'user.update', 'user', new.id, changed);
      end if;
    end if;
    return null;
  end $$;
create or replace trigger audit_user_update after update on "user" for each row when (current_setting('sheaf.actor', true) <> '') execute function audit_user_change();

-- A user's own change of the address. The links in its mails come without an actor.
create or replace function audit_own_email() returns trigger language plpgsql as $$
  begin
    if is_platform_admin_acting_on(new.id) is not true then
      perform record_auth_change(null, 'user.update', 'user', new.id,
        jsonb_build_object('email', jsonb_build_object('from', old.email, 'to', new.email)));
    end if;
    return null;
  end $$;
create or replace trigger audit_own_email after update of email on "user" for each row
  when (old.email is distinct from new.email) execute function audit_own_email();

create or replace function audit_two_factor() returns trigger language plpgsql as $$
  begin
    perform record_auth_change(null, 'user.twoFactor', 'user', new.id, jsonb_build_object('enabled', new."twoFactorEnabled"));
    return null;
  end $$;
create or replace trigger audit_two_factor after update of "twoFactorEnabled" on "user" for each row
  when (coalesce(old."twoFactorEnabled", false) <> coalesce(new."twoFactorEnabled", false)) execute function audit_two_factor();

create or replace function audit_user_existence() returns trigger language plpgsql as $$
  declare
    of_user "user" := case tg_op when 'DELETE' then old else new end;
  begin
    if is_platform_admin_acting() or (tg_op = 'DELETE' and current_setting('sheaf.actor')::jsonb ->> 'userId' = old.id) then
      perform record_auth_change(null, case tg_op when 'DELETE' then 'user.remove' else 'user.create' end, 'user', of_user.id,
        jsonb_build_object('email', of_user.email, 'role', of_user.role));
    end if;
    return null;
  end $$;
create or replace trigger audit_user_delete after delete on "user" for each row when (current_setting('sheaf.actor', true) <> '') execute function audit_user_existence();
create or replace trigger audit_user_insert after insert on "user" for each row when (current_setting('sheaf.actor', true) <> '') execute function audit_user_existence();
