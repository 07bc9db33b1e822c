import { type Kysely, sql } from 'kysely';

/**
 * Days of dunning have 24 hours, whatever the server's time zone; whether a subscription gives its plan is one function. A day on which a
 * subscription is to end is audited like its other changes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // domain/billing/effective-plan.ts says the same; a test holds the two together. An interval of days would follow the clocks of the time zone.
  `create function gives_plan(status text, past_due_since timestamptz, period_end timestamptz, dunning_days integer) returns boolean
     language sql stable as $$
       select status in ('active', 'trialing')
         or (status = 'past_due' and coalesce(coalesce(past_due_since, period_end) + make_interval(hours => 24 * dunning_days) > now(), false))
     $$`,
  `create or replace function organization_plan(of_organization text, dunning_days integer) returns text
     language sql stable as $$
       select coalesce((
         select plan from subscription
         where "referenceId" = of_organization and plan in ('pro', 'team')
           and gives_plan(status, "pastDueSince", "periodEnd", dunning_days)
         order by plan = 'team' desc limit 1
       ), 'free')
     $$`,

  `create or replace function after_subscription_change() returns trigger language plpgsql as $$
     declare
       row subscription := case tg_op when 'DELETE' then old else new end;
     begin
       if exists (select from organization where id = row."referenceId") then
         perform record_auth_change(row."referenceId", 'subscription.' || lower(replace(tg_op, 'INSERT', 'CREATE')),
           'subscription', row.id,
           jsonb_build_object('plan', row.plan, 'status', row.status, 'cancelAtPeriodEnd', row."cancelAtPeriodEnd",
             'cancelAt', to_char(row."cancelAt" at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
       end if;
       return null;
     end $$`,
  `drop trigger after_subscription_update on subscription`,
  `create trigger after_subscription_update after update on subscription for each row
     when ((old.plan, old.status, old."cancelAtPeriodEnd", old."cancelAt")
         is distinct from (new.plan, new.status, new."cancelAtPeriodEnd", new."cancelAt")
       and new.status <> 'incomplete')
     execute function after_subscription_change()`,
];
