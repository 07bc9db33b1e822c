-- domain/billing/plan.ts and effective-plan.ts say the same; a test holds them together.
create or replace function organization_plan(of_organization text, dunning_days integer) returns text
  language sql stable as $$
    select coalesce((select plan from plan_override where organization_id = of_organization and until > now()), (
      select plan from subscription
      where "referenceId" = of_organization and plan in ('pro', 'team')
        and gives_plan(status, "pastDueSince", "periodEnd", dunning_days)
      order by plan = 'team' desc limit 1
    ), 'free')
  $$;

-- domain/billing/effective-plan.ts says the same; a test holds the two together. An interval of days would depend on the time zone.
create or replace function gives_plan(status text, past_due_since timestamptz, period_end timestamptz, dunning_days integer) returns boolean
  language sql stable as $$
    select status in ('active', 'trialing')
      or (status = 'past_due' and coalesce(coalesce(past_due_since, period_end) + make_interval(hours => 24 * dunning_days) > now(), false))
  $$;

create or replace function count_members(organization_id text) returns bigint
  language sql stable as $$ select count(*) from member where "organizationId" = organization_id $$;

-- Refuses if the plan has no seat left besides the taken ones. Call it under the organization's lock.
create or replace function require_seat(organization_id text, taken bigint) returns void
  language plpgsql as $$
    declare
      seats plan_limit;
      by_hand bigint := (select limits ->> 'members' from plan_override as o where o.organization_id = require_seat.organization_id and until > now());
    begin
      select * into seats from plan_limit
      where plan = organization_plan(organization_id, plan_limit.dunning_days);
      if found and taken >= coalesce(by_hand, seats.members) then
        perform raise_rule('LIMIT_REACHED', jsonb_build_object('kind', 'members', 'limit', coalesce(by_hand, seats.members), 'plan', seats.plan));
      end if;
    end $$;

-- Waits for concurrent counts of the same user's organizations. Call it after the organization's lock (docs/rules.md, lock order).
create or replace function require_organization(of_user text) returns void
  language plpgsql as $$
    declare
      most integer;
      dunning integer;
      owned bigint;
    begin
      select value into most from auth_limit where name = 'organizationsPerUser';
      if not found then
        return;
      end if;
      perform pg_advisory_xact_lock(hashtextextended('organizations of ' || of_user, 0));
      select coalesce(max(dunning_days), 0) into dunning from plan_limit;
      -- One statement, so that an organization that gets its owner meanwhile counts once.
      select
        (select count(*) from member
          where "userId" = of_user and role ~ '\yowner\y' and organization_plan("organizationId", dunning) = 'free'
            and not exists (select from organization_deletion where organization_id = "organizationId"))
        + (select count(*) from organization_without_owner where user_id = of_user and created_at > now() - interval '1 hour')
        into owned;
      if owned >= most then
        perform raise_rule('YOU_HAVE_REACHED_THE_MAXIMUM_NUMBER_OF_ORGANIZATIONS');
      end if;
    end $$;

create or replace function require_invitations(which text, sent bigint, oldest timestamptz) returns void
  language plpgsql as $$
    begin
      if sent >= (select value from auth_limit where name = which) then
        perform raise_rule('TOO_MANY_REQUESTS', jsonb_build_object(
          'retryAfterSeconds', greatest(1, ceil(extract(epoch from oldest + interval '24 hours' - now())))));
      end if;
    end $$;

-- Without billing there is no customer to update.
create or replace function request_customer_sync() returns trigger language plpgsql as $$
  begin
    insert into outbox (workflow_id, intent)
      select 'customer-' || new.id, jsonb_build_object(
          'operation', 'start', 'workflow', 'syncCustomer', 'workflowId', 'customer-' || new.id,
          'input', jsonb_build_object('organizationId', new.id), 'signal', 'organizationChanged')
        where exists (select from plan_limit);
    return null;
  end $$;
create or replace trigger customer_after_organization_update after update of name, "stripeCustomerId" on organization for each row
  when (new."stripeCustomerId" is not null
    and (old.name, old."stripeCustomerId") is distinct from (new.name, new."stripeCustomerId"))
  execute function request_customer_sync();

-- Without billing there are no limits of plans, and no seats to update.
create or replace function request_seat_sync() returns trigger language plpgsql as $$
  begin
    insert into outbox (workflow_id, intent)
      select 'seats-' || id, jsonb_build_object(
          'operation', 'start', 'workflow', 'syncSeats', 'workflowId', 'seats-' || id,
          'input', jsonb_build_object('organizationId', id), 'signal', 'membersChanged')
        from organization
        where id in (select "organizationId" from changes)
          and exists (select from plan_limit)
          and exists (select from subscription where "referenceId" = organization.id and status in ('active', 'trialing', 'past_due'));
    return null;
  end $$;
create or replace trigger seats_after_member_delete after delete on member referencing old table as changes
  for each statement execute function request_seat_sync();
create or replace trigger seats_after_member_insert after insert on member referencing new table as changes
  for each statement execute function request_seat_sync();
