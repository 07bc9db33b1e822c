create or replace function cut_user_agent() returns trigger language plpgsql as $$
  begin
    new."userAgent" := left(new."userAgent", 512);
    return new;
  end $$;
create or replace trigger cut_user_agent before insert or update of "userAgent" on session
  for each row when (char_length(new."userAgent") > 512) execute function cut_user_agent();

-- Skips sessions that another sign-in of the user is ending at the moment, so that neither waits.
create or replace function end_oldest_sessions() returns trigger language plpgsql as $$
  begin
    if new."impersonatedBy" is not null then
      return null;
    end if;
    perform set_config('sheaf.ends_oldest_sessions', 'on', true);
    delete from session where id in (
      select id from session where id in (
        select id from session where "userId" = new."userId" and id <> new.id and "impersonatedBy" is null
        order by ("expiresAt" > now()) desc, "updatedAt" desc offset 99
      ) for update skip locked
    );
    perform set_config('sheaf.ends_oldest_sessions', '', true);
    return null;
  end $$;
create or replace trigger end_oldest_sessions after insert on session for each row execute function end_oldest_sessions();

-- A session without `remember me` lives a day, an impersonated one an hour. better-auth keeps that in a second cookie: a bearer token
-- comes without it, and better-auth would extend its session to a week.
create or replace function keep_session_end() returns trigger language plpgsql as $$
  begin
    new."expiresAt" := old."expiresAt";
    return new;
  end $$;
create or replace trigger keep_session_end before update of "expiresAt" on session for each row
  when (old."expiresAt" - old."createdAt" < interval '2 days' and new."expiresAt" > old."expiresAt")
  execute function keep_session_end();

-- Only rows of links have the user's id as their value, and what a second factor waits for or trusts.
create or replace function end_links() returns trigger language plpgsql as $$
  declare
    of_user text := case tg_table_name when 'account' then to_jsonb(new) ->> 'userId' else old.id end;
  begin
    delete from verification where value = of_user;
    delete from email_change where user_id = of_user;
    return null;
  end $$;
create or replace trigger end_links_of_address after update of email on "user" for each row
  when (old.email is distinct from new.email) execute function end_links();
create or replace trigger end_links_of_new_password after insert on account for each row
  when (new.password is not null) execute function end_links();
create or replace trigger end_links_of_password after update of password on account for each row
  when (old.password is distinct from new.password) execute function end_links();
create or replace trigger end_links_of_second_factor after update of "twoFactorEnabled" on "user" for each row
  when (coalesce(old."twoFactorEnabled", false) <> coalesce(new."twoFactorEnabled", false)) execute function end_links();
create or replace trigger end_links_of_ban after update of banned on "user" for each row
  when (new.banned and old.banned is distinct from new.banned) execute function end_links();
create or replace trigger end_links_of_user after delete on "user" for each row execute function end_links();

-- The user chooses another one at the next sign-in with it (api/auth/admin-set-password.ts).
create or replace function note_password_of_admin() returns trigger language plpgsql as $$
  begin
    new."setByAdmin" := coalesce(is_platform_admin_acting_on(new."userId"), false);
    return new;
  end $$;
create or replace trigger note_password_of_admin before insert on account
  for each row when (new.password is not null) execute function note_password_of_admin();
create or replace trigger note_password_of_admin_update before update of password on account
  for each row when (old.password is distinct from new.password) execute function note_password_of_admin();
