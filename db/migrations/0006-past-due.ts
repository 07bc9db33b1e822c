import { type Kysely, sql } from 'kysely';

/** Since when a subscription has been past due, so that its days of grace end however far the payment provider moves its period. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table subscription add column "pastDueSince" timestamptz(3)`,
  `update subscription set "pastDueSince" = coalesce("syncedAt", now()) where status = 'past_due'`,
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

  // The end of the period that was not renewed. Stripe begins the next period and asks for its payment within three days: a period
  // that began then, or later, is one that was not paid, and the one before had ended by then. Otherwise it is the period that runs.
  `create function unrenewed_since(period_start timestamptz, period_end timestamptz, past_due_since timestamptz) returns timestamptz
     language sql stable as $$
       select case
         when period_start >= past_due_since - interval '3 days' then least(period_start, past_due_since)
         else coalesce(period_end, past_due_since)
       end
     $$`,
  `create or replace function organization_plan(of_organization text, dunning_days integer) returns text
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
];
