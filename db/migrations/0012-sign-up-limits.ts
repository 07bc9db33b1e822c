import { type Kysely, sql } from 'kysely';

/**
 * What a user or an organization may take of others by signing up and inviting: lengths of what better-auth stores, organizations on the
 * free plan that one user owns, and mails of invitations. They stand on the tables, as the rules of migration 0003 do.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...tables, ...lengths, ...organizationRules, ...invitationRules]) await sql.raw(statement).execute(db);
}

const tables = [
  // What the API writes at its start from its configuration. What has no row is not limited.
  `create table auth_limit (name text primary key, value integer not null check (value > 0))`,
  // Organizations that better-auth has written without their first member yet, which it writes in a transaction of its own.
  `create table organization_without_owner (
    organization_id text primary key references organization (id) on delete cascade,
    user_id text not null
  )`,
  `create index organization_without_owner_user on organization_without_owner (user_id)`,
  // The addresses are hashed: a count needs nothing more.
  `create table invitation_mail (
    organization_id text not null references organization (id) on delete cascade,
    address_hash text not null,
    sent_at timestamptz(3) not null default now()
  )`,
  `create index invitation_mail_organization on invitation_mail (organization_id, sent_at)`,
  `create index invitation_mail_address on invitation_mail (address_hash, sent_at)`,
  `create index invitation_mail_sent on invitation_mail (sent_at)`,
];

// Not valid: rows that are there are not read, so that nothing waits for this. They are checked when they change.
const lengths = (
  [
    ['"user"', 'name', 120],
    ['"user"', 'email', 254],
    ['"user"', 'image', 2_048],
    ['organization', 'name', 80],
    ['organization', 'logo', 2_048],
    ['organization', 'metadata', 10_000],
    ['team', 'name', 80],
    ['invitation', 'email', 254],
  ] as const
).map(
  ([table, column, most]) =>
    `alter table ${table} add constraint ${table.replaceAll('"', '')}_${column}_length check (char_length(${column}) <= ${most}) not valid`,
);

const organizationRules = [
  // Waits for others who count the same user's. Call it after the organization's lock (docs/rules.md, lock order).
  `create function require_organization(of_user text) returns void
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
         -- One statement, so that an organization which gets its owner meanwhile counts once.
         select
           (select count(*) from member
             where "userId" = of_user and role ~ '\\yowner\\y' and organization_plan("organizationId", dunning) = 'free'
               and not exists (select from organization_deletion where organization_id = "organizationId"))
           + (select count(*) from organization_without_owner where user_id = of_user)
           into owned;
         if owned >= most then
           perform raise_rule('LIMIT_REACHED', jsonb_build_object('kind', 'organizations', 'limit', most, 'plan', 'free'));
         end if;
       end $$`,

  `create function after_organization_owned() returns trigger language plpgsql as $$
     declare
       creator text := nullif(current_setting('sheaf.actor', true), '')::jsonb ->> 'userId';
     begin
       if creator is not null then
         perform require_organization(creator);
         insert into organization_without_owner (organization_id, user_id) values (new.id, creator);
       end if;
       return null;
     end $$`,
  `create trigger after_organization_owned after insert on organization for each row execute function after_organization_owned()`,

  // After before_member_insert, which takes the organization's lock.
  `create function before_member_owns() returns trigger language plpgsql as $$
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
     end $$`,
  `create trigger before_member_owns_insert before insert on member for each row
     when (new.role ~ '\\yowner\\y') execute function before_member_owns()`,
  `create trigger before_member_owns_update before update of role on member for each row
     when (new.role ~ '\\yowner\\y' and old.role !~ '\\yowner\\y') execute function before_member_owns()`,
];

const invitationRules = [
  `create function require_invitations(which text, sent bigint, oldest timestamptz) returns void
     language plpgsql as $$
       begin
         if sent >= (select value from auth_limit where name = which) then
           perform raise_rule('TOO_MANY_REQUESTS', jsonb_build_object(
             'retryAfterSeconds', greatest(1, ceil(extract(epoch from oldest + interval '1 day' - now())))));
         end if;
       end $$`,

  // After before_invitation_insert, which takes the organization's lock; then the address, which other organizations may invite, too.
  `create function before_invitation_mail() returns trigger language plpgsql as $$
     declare
       address text := encode(sha256(convert_to(lower(new.email), 'UTF8')), 'hex');
       since timestamptz := now() - interval '1 day';
       sent bigint;
       oldest timestamptz;
     begin
       if tg_op = 'UPDATE' then
         perform lock_live_organization(new."organizationId");
       end if;
       perform pg_advisory_xact_lock(hashtextextended('invitations of ' || address, 0));
       select count(*), min(sent_at) into sent, oldest from invitation_mail
         where organization_id = new."organizationId" and sent_at > since;
       perform require_invitations('invitationsPerDay', sent, oldest);
       select count(*), min(sent_at) into sent, oldest from invitation_mail where address_hash = address and sent_at > since;
       perform require_invitations('invitationsPerAddressPerDay', sent, oldest);
       delete from invitation_mail where ctid in (
         select ctid from invitation_mail where sent_at <= since order by sent_at limit 100 for update skip locked
       );
       insert into invitation_mail (organization_id, address_hash) values (new."organizationId", address);
       return new;
     end $$`,
  `create trigger before_invitation_mail_insert before insert on invitation for each row execute function before_invitation_mail()`,
  `create trigger before_invitation_mail_resend before update of "expiresAt" on invitation for each row
     when (old."expiresAt" is distinct from new."expiresAt") execute function before_invitation_mail()`,
];
