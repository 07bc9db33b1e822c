import { type Kysely, sql } from 'kysely';

/**
 * What is asked of Stripe outlives the process that asks: who cancels a subscription is noted before Stripe does it, and a customer's name
 * follows that of its organization by a workflow. The intent is what `startCustomerSync` of workflows/definitions.ts makes; a test compares.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table subscription_cancellation (
    subscription_id text primary key references subscription (id) on delete cascade,
    actor jsonb not null,
    immediately boolean not null,
    requested_at timestamptz(3) not null default now()
  )`,
  // Without billing there is nobody to tell.
  `create function request_customer_sync() returns trigger language plpgsql as $$
     begin
       insert into outbox (workflow_id, intent)
         select 'customer-' || new.id, jsonb_build_object(
             'operation', 'start', 'workflow', 'syncCustomer', 'workflowId', 'customer-' || new.id,
             'input', jsonb_build_object('organizationId', new.id), 'signal', 'organizationChanged')
           where exists (select from plan_limit);
       return null;
     end $$`,
  `create trigger customer_after_organization_update after update of name, "stripeCustomerId" on organization for each row
     when (new."stripeCustomerId" is not null
       and (old.name, old."stripeCustomerId") is distinct from (new.name, new."stripeCustomerId"))
     execute function request_customer_sync()`,
];
