import { type Kysely, sql } from 'kysely';

/** A user who owns as many organizations as one may is refused with better-auth's code for it, which no kind of LIMIT_REACHED is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(requireOrganization).execute(db);
}

// Waits for others who count the same user's. Call it after the organization's lock (docs/rules.md, lock order).
const requireOrganization = `create or replace function require_organization(of_user text) returns void
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
        + (select count(*) from organization_without_owner where user_id = of_user and created_at > now() - interval '1 hour')
        into owned;
      if owned >= most then
        perform raise_rule('YOU_HAVE_REACHED_THE_MAXIMUM_NUMBER_OF_ORGANIZATIONS');
      end if;
    end $$`;
