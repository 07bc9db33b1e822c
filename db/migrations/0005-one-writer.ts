import { type Kysely, sql } from 'kysely';

/**
 * Subscriptions have one writer, which stores what Stripe answered. The order of its answers comes from a sequence, not from the clocks
 * of processes; since when a subscription is unpaid comes from its invoices, not from when an event arrived.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // A number is taken before Stripe is asked: an answer never replaces one with a higher number.
  `create sequence subscription_fetch`,
  `alter table subscription add column "syncedFetch" bigint not null default 0`,

  `drop trigger subscription_past_due on subscription`,
  `drop function note_past_due()`,
  // domain/billing/effective-plan.ts says the same; a test holds the two together.
  `create or replace function organization_plan(of_organization text, dunning_days integer) returns text
     language sql stable as $$
       select coalesce((
         select plan from subscription
         where "referenceId" = of_organization and plan in ('pro', 'team')
           and (status in ('active', 'trialing')
             or (status = 'past_due' and coalesce("pastDueSince", "periodEnd") + make_interval(days => dunning_days) > now()))
         order by plan = 'team' desc limit 1
       ), 'free')
     $$`,
  `drop function unrenewed_since(timestamptz, timestamptz, timestamptz)`,

  // What an operator has to decide about. A row stays after it is resolved, so that what was seen can be told.
  `create table billing_problem (
    kind text not null,
    subject text not null,
    organization_id text,
    stripe_customer_id text,
    stripe_subscription_id text,
    seen_at timestamptz(3) not null default now(),
    resolved_at timestamptz(3),
    primary key (kind, subject)
  )`,
  // Which invoices the owners were told of.
  `create table payment_failure (
    invoice_id text primary key,
    organization_id text not null references organization (id) on delete cascade,
    created_at timestamptz(3) not null default now()
  )`,
  `create index payment_failure_organization on payment_failure (organization_id)`,
];
