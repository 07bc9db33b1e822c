create or replace function before_team_insert() returns trigger language plpgsql as $$
  begin
    perform lock_live_organization(new."organizationId");
    perform record_auth_change(new."organizationId", 'team.create', 'team', new.id, jsonb_build_object('name', new.name));
    return new;
  end $$;
create or replace trigger before_team_insert before insert on team for each row execute function before_team_insert();

create or replace function after_team_change() returns trigger language plpgsql as $$
  begin
    if tg_op = 'UPDATE' then
      perform record_auth_change(old."organizationId", 'team.update', 'team', old.id,
        jsonb_build_object('from', old.name, 'to', new.name));
    elsif exists (select from organization where id = old."organizationId") then
      perform record_auth_change(old."organizationId", 'team.delete', 'team', old.id, jsonb_build_object('name', old.name));
    end if;
    return null;
  end $$;
create or replace trigger after_team_delete after delete on team for each row execute function after_team_change();
create or replace trigger after_team_update after update on team for each row
  when (old.name is distinct from new.name) execute function after_team_change();

-- One entry for each statement and team: a team that loses all members gets a single entry.
create or replace function after_team_members() returns trigger language plpgsql as $$
  begin
    perform record_auth_change(team."organizationId", 'team.update', 'team', team.id,
        jsonb_build_object(case tg_op when 'INSERT' then 'added' else 'removed' end, changed.users))
      from (select "teamId", jsonb_agg("userId") as users from changes group by "teamId") as changed
      join team on team.id = changed."teamId";
    return null;
  end $$;
create or replace trigger after_team_member_delete after delete on "teamMember" referencing old table as changes
  for each statement execute function after_team_members();
create or replace trigger after_team_member_insert after insert on "teamMember" referencing new table as changes
  for each statement execute function after_team_members();

create or replace function keep_active_team() returns trigger language plpgsql as $$
  begin
    if not exists (select from team where id = new."activeTeamId" and "organizationId" = new."activeOrganizationId") then
      new."activeTeamId" := null;
    end if;
    return new;
  end $$;
create or replace trigger keep_active_team before update of "activeOrganizationId" on session for each row
  when (new."activeTeamId" is not null and old."activeOrganizationId" is distinct from new."activeOrganizationId")
  execute function keep_active_team();

-- better-auth ends the memberships in teams with the one in the organization, and Postgres with the team.
create or replace function end_active_team() returns trigger language plpgsql as $$
  begin
    update session set "activeTeamId" = null where "userId" = old."userId" and "activeTeamId" = old."teamId";
    return null;
  end $$;
create or replace trigger end_active_team after delete on "teamMember" for each row execute function end_active_team();
