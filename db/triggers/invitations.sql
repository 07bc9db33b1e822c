-- api/auth/permissions.ts says who may invite.
create or replace function invitation_stands(of invitation) returns boolean
  language sql stable as $$
    select exists (
      select from member join "user" on "user".id = member."userId"
      where member."organizationId" = of."organizationId" and member."userId" = of."inviterId"
        and member.role ~ '\y(owner|admin)\y' and (coalesce(of.role, '') ~ '\yowner\y') <= (member.role ~ '\yowner\y')
        and ("user".banned is not true or "user"."banExpires" <= now())
    )
  $$;

-- Whether an invitation takes a seat: it can be accepted, or was, a moment ago.
create or replace function holds_seat(of invitation) returns boolean
  language sql stable as $$
    select (of.status = 'pending' and of."expiresAt" > now() and invitation_stands(of))
      or (of.status = 'accepted' and coalesce(of."seatHeldUntil" > now(), false))
  $$;

create or replace function count_invitations(organization_id text) returns bigint
  language sql stable as $$ select count(*) from invitation where "organizationId" = organization_id and holds_seat(invitation) $$;

create or replace function before_invitation_insert() returns trigger language plpgsql as $$
  begin
    perform lock_live_organization(new."organizationId");
    perform require_seat(new."organizationId", count_members(new."organizationId") + count_invitations(new."organizationId"));
    perform record_auth_change(new."organizationId", 'invitation.create', 'invitation', new.id,
      jsonb_build_object('email', new.email, 'role', new.role));
    return new;
  end $$;
create or replace trigger before_invitation_insert before insert on invitation for each row execute function before_invitation_insert();

-- Runs after before_invitation_insert, which takes the organization's lock. Then it locks the address, since other organizations may
-- invite it at the same time.
create or replace function before_invitation_mail() returns trigger language plpgsql as $$
  declare
    address text := encode(sha256(convert_to(lower(new.email), 'UTF8')), 'hex');
    since timestamptz := now() - interval '24 hours';
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
  end $$;
create or replace trigger before_invitation_mail_insert before insert on invitation for each row execute function before_invitation_mail();
create or replace trigger before_invitation_mail_resend before update of "expiresAt" on invitation for each row
  when (old."expiresAt" is distinct from new."expiresAt") execute function before_invitation_mail();

-- A user who sends an invitation again becomes its inviter.
create or replace function before_invitation_resend() returns trigger language plpgsql as $$
  begin
    new."inviterId" := coalesce(nullif(current_setting('sheaf.actor', true), '')::jsonb ->> 'userId', new."inviterId");
    return new;
  end $$;
create or replace trigger before_invitation_resend before update of "expiresAt" on invitation for each row
  when (old."expiresAt" is distinct from new."expiresAt") execute function before_invitation_resend();

-- An acceptance counts older invitations as taken seats. So after a downgrade the seats that are left go to those invited first, even if
-- many accept at once.
create or replace function before_invitation_status() returns trigger language plpgsql as $$
  declare
    older bigint;
  begin
    if old.status = 'pending' and new.status = 'accepted' then
      perform lock_live_organization(new."organizationId");
      if not invitation_stands(new) then
        perform raise_rule('INVITER_IS_NO_LONGER_A_MEMBER_OF_THE_ORGANIZATION');
      end if;
      select count(*) into older from invitation as other
        where other."organizationId" = new."organizationId" and other.id <> new.id and holds_seat(other)
          and (other.status = 'accepted' or (other."createdAt", other.id) < (new."createdAt", new.id));
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
  end $$;
create or replace trigger before_invitation_status before update of status on invitation for each row
  when (old.status is distinct from new.status) execute function before_invitation_status();

-- Invitations go with the user who sent them.
create or replace function after_invitation_delete() returns trigger language plpgsql as $$
  begin
    if exists (select from organization where id = old."organizationId") then
      perform record_auth_change(old."organizationId", 'invitation.cancel', 'invitation', old.id,
        jsonb_build_object('email', old.email));
    end if;
    return null;
  end $$;
create or replace trigger after_invitation_delete after delete on invitation for each row
  when (old.status = 'pending') execute function after_invitation_delete();

create or replace function after_invitation_resend() returns trigger language plpgsql as $$
  begin
    perform record_auth_change(new."organizationId", 'invitation.create', 'invitation', new.id,
      jsonb_build_object('email', new.email, 'role', new.role, 'resent', true));
    return null;
  end $$;
create or replace trigger after_invitation_resend after update of "expiresAt" on invitation for each row
  when (old."expiresAt" is distinct from new."expiresAt") execute function after_invitation_resend();

-- One that waits is to the address, whoever has it. What was answered has no use but to name who did.
create or replace function forget_answered_invitations() returns trigger language plpgsql as $$
  begin
    delete from invitation where email = old.email and status <> 'pending';
    return null;
  end $$;
create or replace trigger forget_answered_invitations after delete on "user" for each row execute function forget_answered_invitations();
