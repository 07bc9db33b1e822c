import { type Kysely, sql } from 'kysely';

/**
 * What ends with what it was for: an invitation with the rights of its inviter, links to a new password with the password or the address,
 * the active team with the organization. Roles are stored once each, and mails that anybody can ask for are counted.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...invitationRules, ...linkRules, ...teamRules, ...roleRules, ...recentMails])
    await sql.raw(statement).execute(db);
}

const invitationRules = [
  // auth/permissions.ts says who may invite.
  `create function invitation_stands(of invitation) returns boolean
     language sql stable as $$
       select exists (
         select from member join "user" on "user".id = member."userId"
         where member."organizationId" = of."organizationId" and member."userId" = of."inviterId"
           and member.role ~ '\\y(owner|admin)\\y' and (coalesce(of.role, '') ~ '\\yowner\\y') <= (member.role ~ '\\yowner\\y')
           and ("user".banned is not true or "user"."banExpires" <= now())
       )
     $$`,

  // An acceptance counts the invitations that are older than it: after a downgrade the seats that are left go to those who were
  // invited first, one of any number that accept at once, instead of to nobody.
  `create or replace function before_invitation_status() returns trigger language plpgsql as $$
     declare
       older bigint;
     begin
       if old.status = 'pending' and new.status = 'accepted' then
         perform lock_live_organization(new."organizationId");
         if not invitation_stands(new) then
           perform raise_rule('INVITER_IS_NO_LONGER_A_MEMBER_OF_THE_ORGANIZATION');
         end if;
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

  // Whoever sends an invitation again is the one who invites.
  `create function before_invitation_resend() returns trigger language plpgsql as $$
     begin
       new."inviterId" := coalesce(nullif(current_setting('sheaf.actor', true), '')::jsonb ->> 'userId', new."inviterId");
       return new;
     end $$`,
  `create trigger before_invitation_resend before update of "expiresAt" on invitation for each row
     when (old."expiresAt" is distinct from new."expiresAt") execute function before_invitation_resend()`,
];

const linkRules = [
  // The value of a link's row is the id of its user, and of no other row that better-auth makes.
  `create function end_links() returns trigger language plpgsql as $$
     begin
       delete from verification where value = case tg_table_name when 'account' then to_jsonb(new) ->> 'userId' else old.id end;
       return null;
     end $$`,
  `create trigger end_links_of_new_password after insert on account for each row
     when (new.password is not null) execute function end_links()`,
  `create trigger end_links_of_password after update of password on account for each row
     when (old.password is distinct from new.password) execute function end_links()`,
  `create trigger end_links_of_address after update of email on "user" for each row
     when (old.email is distinct from new.email) execute function end_links()`,
  `create trigger end_links_of_user after delete on "user" for each row execute function end_links()`,
];

const teamRules = [
  `create function keep_active_team() returns trigger language plpgsql as $$
     begin
       if not exists (select from team where id = new."activeTeamId" and "organizationId" = new."activeOrganizationId") then
         new."activeTeamId" := null;
       end if;
       return new;
     end $$`,
  `create trigger keep_active_team before update of "activeOrganizationId" on session for each row
     when (new."activeTeamId" is not null and old."activeOrganizationId" is distinct from new."activeOrganizationId")
     execute function keep_active_team()`,

  // better-auth ends the memberships in teams with the one in the organization, and Postgres with the team.
  `create function end_active_team() returns trigger language plpgsql as $$
     begin
       update session set "activeTeamId" = null where "userId" = old."userId" and "activeTeamId" = old."teamId";
       return null;
     end $$`,
  `create trigger end_active_team after delete on "teamMember" for each row execute function end_active_team()`,
];

const roleRules = [
  `create function store_roles_once() returns trigger language plpgsql as $$
     begin
       select string_agg(role, ',' order by first) into new.role
         from (select role, min(at) as first from unnest(string_to_array(new.role, ',')) with ordinality as given(role, at) group by role) as once;
       return new;
     end $$`,
  ...['member', 'invitation'].map(
    (table) => `create trigger ${table}_roles_once before insert or update of role on ${table} for each row
       when (new.role like '%,%') execute function store_roles_once()`,
  ),
];

// One row for an address and a kind of mail: how many were sent since when. The address is hashed, since nobody needs to read it.
const recentMails = [
  `create table recent_mail (
  kind text not null,
  address_hash text not null,
  sent integer not null default 1,
  since timestamptz(3) not null default now(),
  primary key (kind, address_hash)
)`,
  `create index recent_mail_since on recent_mail (since)`,
];
