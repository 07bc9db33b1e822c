import { type Kysely, sql } from 'kysely';

/**
 * The rules on better-auth's tables that its own code leaves open: members of a plan, the last owner, the states of an invitation,
 * and the audit log of every change. They stand on the tables, so they hold whichever way a change comes and whoever races it.
 *
 * A broken rule raises SQLSTATE `SHEAF` with the error's code as message and its data as JSON detail; `auth/rule-errors.ts` translates.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...tables, ...functions, ...sessionRules, ...memberRules, ...invitationRules, ...auditRules]) {
    await sql.raw(statement).execute(db);
  }
}

const role = `(owner|admin|member)(,(owner|admin|member))*`;

const tables = [
  // What the API writes at its start from its configuration; empty while billing is off, which means that nothing is capped.
  `create table plan_limit (
    plan text primary key check (plan in ('free', 'pro', 'team')),
    members integer not null check (members >= 0),
    dunning_days integer not null check (dunning_days >= 0)
  )`,
  `create table stripe_event (
    id text primary key,
    type text not null,
    created_at timestamptz(3) not null default now()
  )`,
  `create index stripe_event_created on stripe_event (created_at)`,

  // When the row was last overwritten with what Stripe answered: an older answer never replaces a newer one.
  `alter table subscription add column "syncedAt" timestamptz(3)`,
  // So that its days of grace end however far the payment provider moves its period.
  `alter table subscription add column "pastDueSince" timestamptz(3)`,
  // Between better-auth's two writes of an acceptance (the invitation, then the member) nobody else may take the seat.
  `alter table invitation add column "seatHeldUntil" timestamptz(3)`,

  // One spelling of several roles: "member, owner" means member to better-auth, and must not mean owner to anyone.
  `alter table member add constraint member_role_known check (role ~ '^${role}$')`,
  `alter table invitation add constraint invitation_role_known check (role ~ '^${role}$')`,
  // The deletion of an organization is confirmed with its slug, which has this form.
  `alter table organization add constraint organization_slug_form
     check (length(slug) between 2 and 48 and slug ~ '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')`,
  // One role per user, so that `admin` is the whole value wherever it is read.
  `alter table "user" add constraint user_role_known check (role in ('user', 'admin'))`,
  // Only organizations are customers; the Stripe plugin would let a user name somebody else's customer here.
  `alter table "user" add constraint user_is_no_customer check ("stripeCustomerId" is null)`,
];

const functions = [
  // The end of the period that was not renewed. Stripe begins the next period and asks for its payment within three days: a period
  // that began then, or later, is one that was not paid, and the one before had ended by then. Otherwise it is the period that runs.
  `create function unrenewed_since(period_start timestamptz, period_end timestamptz, past_due_since timestamptz) returns timestamptz
     language sql stable as $$
       select case
         when period_start >= past_due_since - interval '3 days' then least(period_start, past_due_since)
         else coalesce(period_end, past_due_since)
       end
     $$`,

  // The plan that counts now: a live subscription's, or one that is being dunned; else free.
  `create function organization_plan(of_organization text, dunning_days integer) returns text
     language sql stable as $$
       select coalesce((
         select plan from subscription
         where "referenceId" = of_organization and plan in ('pro', 'team')
           and (status in ('active', 'trialing')
             or (status = 'past_due'
               and unrenewed_since("periodStart", "periodEnd", "pastDueSince") + make_interval(days => dunning_days) > now()))
         order by plan = 'team' desc limit 1
       ), 'free')
     $$`,

  // UUID version 7 with microseconds, so that the entries of one transaction keep their order.
  `create function new_audit_id() returns text
     language plpgsql volatile as $$
       declare
         microseconds bigint := floor(extract(epoch from clock_timestamp()) * 1000000);
         id bytea := uuid_send(gen_random_uuid());
       begin
         id := overlay(id placing substring(int8send(microseconds / 1000) from 3) from 1 for 6);
         id := overlay(id placing substring(int4send(28672 + (microseconds % 1000)::integer * 4) from 3) from 7 for 2);
         return encode(id, 'hex')::uuid::text;
       end $$`,

  // The actor is what the transaction says of itself (db/actor.ts).
  `create function record_auth_change(organization text, action text, target_type text, target_id text, metadata jsonb)
     returns void language plpgsql as $$
       declare
         actor jsonb := nullif(current_setting('sheaf.actor', true), '')::jsonb;
       begin
         insert into audit_entry
           (id, organization_id, actor_id, actor_email, impersonated_by, action, target_type, target_id, metadata)
         values
           (new_audit_id(), organization, actor ->> 'userId', actor ->> 'email', actor ->> 'impersonatedBy',
            action, target_type, target_id, jsonb_strip_nulls(metadata));
       end $$`,

  `create function raise_rule(code text, data jsonb default '{}') returns void
     language plpgsql as $$
       begin
         raise exception using errcode = 'SHEAF', message = code, detail = data::text;
       end $$`,

  // docs/rules.md, lock order: the organization's lock. One that is being deleted takes no more writes.
  `create function lock_live_organization(organization_id text) returns void
     language plpgsql as $$
       begin
         perform from organization where id = lock_live_organization.organization_id for no key update;
         if exists (select from organization_deletion as d where d.organization_id = lock_live_organization.organization_id) then
           perform raise_rule('ORGANIZATION_BEING_DELETED');
         end if;
       end $$`,

  // Refuses when nothing is left of the plan beside what is taken. Call it under the organization's lock.
  `create function require_seat(organization_id text, taken bigint) returns void
     language plpgsql as $$
       declare
         seats plan_limit;
       begin
         select * into seats from plan_limit
         where plan = organization_plan(organization_id, plan_limit.dunning_days);
         if found and taken >= seats.members then
           perform raise_rule('LIMIT_REACHED', jsonb_build_object('kind', 'members', 'limit', seats.members, 'plan', seats.plan));
         end if;
       end $$`,

  `create function count_members(organization_id text) returns bigint
     language sql stable as $$ select count(*) from member where "organizationId" = organization_id $$`,
];

const sessionRules = [
  // A session that is not to be remembered lives a day, an impersonated one an hour. better-auth keeps that in a second cookie, and
  // would extend the session to a week for a bearer token, which comes without it.
  `create function keep_session_end() returns trigger language plpgsql as $$
     begin
       new."expiresAt" := old."expiresAt";
       return new;
     end $$`,
  `create trigger keep_session_end before update of "expiresAt" on session for each row
     when (old."expiresAt" - old."createdAt" < interval '2 days' and new."expiresAt" > old."expiresAt")
     execute function keep_session_end()`,
];

const memberRules = [
  // The first member is the organization's creator, for whom no plan can lack a seat.
  `create function before_member_insert() returns trigger language plpgsql as $$
     declare
       members bigint;
       invitations bigint;
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
         select count(*) into invitations from invitation
           where "organizationId" = new."organizationId"
             and ((status = 'pending' and "expiresAt" > now()) or (status = 'accepted' and "seatHeldUntil" > now()));
         if members > 0 then
           perform require_seat(new."organizationId", members + invitations);
         end if;
       end if;
       perform record_auth_change(new."organizationId", 'member.add', 'member', new.id,
         jsonb_build_object('userId', new."userId", 'role', new.role, 'invitationId', accepted));
       return new;
     end $$`,
  `create trigger before_member_insert before insert on member for each row execute function before_member_insert()`,

  // An organization always has an owner. Under its lock, so that two owners cannot both leave; without it when it goes itself.
  `create function after_member_change() returns trigger language plpgsql as $$
     declare
       lost_owner boolean := old.role ~ '\\yowner\\y' and (tg_op = 'DELETE' or new.role !~ '\\yowner\\y');
     begin
       perform from organization where id = old."organizationId" for no key update;
       if not found then
         return null;
       end if;
       if lost_owner and not exists (
         select from member where "organizationId" = old."organizationId" and role ~ '\\yowner\\y'
       ) then
         perform raise_rule('LAST_OWNER');
       end if;
       if tg_op = 'DELETE' then
         perform record_auth_change(old."organizationId", 'member.remove', 'member', old.id,
           jsonb_build_object('userId', old."userId", 'role', old.role));
       else
         perform record_auth_change(old."organizationId", 'member.update', 'member', old.id,
           jsonb_build_object('userId', old."userId", 'from', old.role, 'to', new.role));
       end if;
       return null;
     end $$`,
  `create trigger after_member_update after update on member for each row
     when (old.role is distinct from new.role) execute function after_member_change()`,
  `create trigger after_member_delete after delete on member for each row execute function after_member_change()`,
];

const invitationRules = [
  `create function before_invitation_insert() returns trigger language plpgsql as $$
     declare
       invitations bigint;
     begin
       perform lock_live_organization(new."organizationId");
       select count(*) into invitations from invitation
         where "organizationId" = new."organizationId"
           and ((status = 'pending' and "expiresAt" > now()) or (status = 'accepted' and "seatHeldUntil" > now()));
       perform require_seat(new."organizationId", count_members(new."organizationId") + invitations);
       perform record_auth_change(new."organizationId", 'invitation.create', 'invitation', new.id,
         jsonb_build_object('email', new.email, 'role', new.role));
       return new;
     end $$`,
  `create trigger before_invitation_insert before insert on invitation for each row execute function before_invitation_insert()`,

  // An acceptance counts the invitations that are older than it: after a downgrade the seats that are left go to those who were
  // invited first, one of any number that accept at once, instead of to nobody.
  `create function before_invitation_status() returns trigger language plpgsql as $$
     declare
       older bigint;
     begin
       if old.status = 'pending' and new.status = 'accepted' then
         perform lock_live_organization(new."organizationId");
         select count(*) into older from invitation as other
           where other."organizationId" = new."organizationId" and other.id <> new.id
             and ((other.status = 'accepted' and other."seatHeldUntil" > now())
               or (other.status = 'pending' and other."expiresAt" > now()
                 and (other."createdAt", other.id) < (new."createdAt", new.id)));
         perform require_seat(new."organizationId", count_members(new."organizationId") + older);
         new."seatHeldUntil" := now() + interval '1 minute';
       elsif old.status = 'accepted' and new.status = 'pending' and old."seatHeldUntil" is not null then
         new."seatHeldUntil" := null;
       elsif old.status = 'pending' and new.status in ('rejected', 'canceled') then
         perform record_auth_change(new."organizationId",
           case new.status when 'rejected' then 'invitation.reject' else 'invitation.cancel' end,
           'invitation', new.id, jsonb_build_object('email', new.email));
       else
         perform raise_rule('INVITATION_NOT_PENDING');
       end if;
       return new;
     end $$`,
  `create trigger before_invitation_status before update of status on invitation for each row
     when (old.status is distinct from new.status) execute function before_invitation_status()`,

  `create function after_invitation_resend() returns trigger language plpgsql as $$
     begin
       perform record_auth_change(new."organizationId", 'invitation.create', 'invitation', new.id,
         jsonb_build_object('email', new.email, 'role', new.role, 'resent', true));
       return null;
     end $$`,
  `create trigger after_invitation_resend after update of "expiresAt" on invitation for each row
     when (old."expiresAt" is distinct from new."expiresAt") execute function after_invitation_resend()`,

  // Invitations go with the user who sent them.
  `create function after_invitation_delete() returns trigger language plpgsql as $$
     begin
       if exists (select from organization where id = old."organizationId") then
         perform record_auth_change(old."organizationId", 'invitation.cancel', 'invitation', old.id,
           jsonb_build_object('email', old.email));
       end if;
       return null;
     end $$`,
  `create trigger after_invitation_delete after delete on invitation for each row
     when (old.status = 'pending') execute function after_invitation_delete()`,
];

const auditRules = [
  `create function after_organization_change() returns trigger language plpgsql as $$
     begin
       perform record_auth_change(new.id, case tg_op when 'INSERT' then 'organization.create' else 'organization.update' end,
         'organization', new.id, jsonb_build_object('name', new.name, 'slug', new.slug));
       return null;
     end $$`,
  `create trigger after_organization_insert after insert on organization for each row execute function after_organization_change()`,
  `create trigger after_organization_update after update on organization for each row
     when ((old.name, old.slug, old.logo, old.metadata) is distinct from (new.name, new.slug, new.logo, new.metadata))
     execute function after_organization_change()`,

  // The deletion that the service carries out is audited where it is decided, with its actor; this is every other one.
  `create function before_organization_delete() returns trigger language plpgsql as $$
     begin
       if not exists (select from organization_deletion where organization_id = old.id) then
         perform record_auth_change(old.id, 'organization.delete', 'organization', old.id,
           jsonb_build_object('name', old.name, 'slug', old.slug));
       end if;
       return old;
     end $$`,
  `create trigger before_organization_delete before delete on organization for each row execute function before_organization_delete()`,

  `create function before_team_insert() returns trigger language plpgsql as $$
     begin
       perform lock_live_organization(new."organizationId");
       perform record_auth_change(new."organizationId", 'team.create', 'team', new.id, jsonb_build_object('name', new.name));
       return new;
     end $$`,
  `create trigger before_team_insert before insert on team for each row execute function before_team_insert()`,
  `create function after_team_change() returns trigger language plpgsql as $$
     begin
       if tg_op = 'UPDATE' then
         perform record_auth_change(old."organizationId", 'team.update', 'team', old.id,
           jsonb_build_object('from', old.name, 'to', new.name));
       elsif exists (select from organization where id = old."organizationId") then
         perform record_auth_change(old."organizationId", 'team.delete', 'team', old.id, jsonb_build_object('name', old.name));
       end if;
       return null;
     end $$`,
  `create trigger after_team_update after update on team for each row
     when (old.name is distinct from new.name) execute function after_team_change()`,
  `create trigger after_team_delete after delete on team for each row execute function after_team_change()`,
  // One entry per statement and team: a team that loses all its members says so once.
  `create function after_team_members() returns trigger language plpgsql as $$
     begin
       perform record_auth_change(team."organizationId", 'team.update', 'team', team.id,
           jsonb_build_object(case tg_op when 'INSERT' then 'added' else 'removed' end, changed.users))
         from (select "teamId", jsonb_agg("userId") as users from changes group by "teamId") as changed
         join team on team.id = changed."teamId";
       return null;
     end $$`,
  `create trigger after_team_member_insert after insert on "teamMember" referencing new table as changes
     for each statement execute function after_team_members()`,
  `create trigger after_team_member_delete after delete on "teamMember" referencing old table as changes
     for each statement execute function after_team_members()`,

  `create function note_past_due() returns trigger
     language plpgsql as $$
       begin
         if new.status <> 'past_due' then
           new."pastDueSince" := null;
         elsif tg_op = 'INSERT' or old.status <> 'past_due' then
           new."pastDueSince" := now();
         else
           new."pastDueSince" := old."pastDueSince";
         end if;
         return new;
       end $$`,
  `create trigger subscription_past_due before insert or update on subscription for each row execute function note_past_due()`,

  // A checkout that was only begun is no change yet.
  `create function after_subscription_change() returns trigger language plpgsql as $$
     declare
       row subscription := case tg_op when 'DELETE' then old else new end;
     begin
       if exists (select from organization where id = row."referenceId") then
         perform record_auth_change(row."referenceId", 'subscription.' || lower(replace(tg_op, 'INSERT', 'CREATE')),
           'subscription', row.id,
           jsonb_build_object('plan', row.plan, 'status', row.status, 'cancelAtPeriodEnd', row."cancelAtPeriodEnd"));
       end if;
       return null;
     end $$`,
  `create trigger after_subscription_insert after insert on subscription for each row
     when (new.status <> 'incomplete') execute function after_subscription_change()`,
  `create trigger after_subscription_update after update on subscription for each row
     when ((old.plan, old.status, old."cancelAtPeriodEnd") is distinct from (new.plan, new.status, new."cancelAtPeriodEnd")
       and new.status <> 'incomplete')
     execute function after_subscription_change()`,
  `create trigger after_subscription_delete after delete on subscription for each row
     when (old.status <> 'incomplete') execute function after_subscription_change()`,
];
