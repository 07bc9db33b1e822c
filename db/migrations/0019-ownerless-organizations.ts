import { type Kysely, sql } from 'kysely';

/**
 * An organization whose first member was never written, because the process died before: it counts for its creator for an hour only, and
 * housekeeping deletes it after a day.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // Rows that are there begin their hour and their day now.
  `alter table organization_without_owner add column created_at timestamptz(3) not null default now()`,

  // Waits for others who count the same user's. Call it after the organization's lock (docs/rules.md, lock order).
  `create or replace function require_organization(of_user text) returns void
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
           perform raise_rule('LIMIT_REACHED', jsonb_build_object('kind', 'organizations', 'limit', most, 'plan', 'free'));
         end if;
       end $$`,
];
