import { type Kysely, sql } from 'kysely';

/**
 * Seats follow members, whichever way those change: the transaction of the change asks for the workflow that brings Stripe to the count.
 * The intent is what `startSeatSync` of workflows/definitions.ts makes; a test compares.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // Without billing there are no limits of plans, and nobody to tell.
  `create function request_seat_sync() returns trigger language plpgsql as $$
     begin
       insert into outbox (workflow_id, intent)
         select 'seats-' || id, jsonb_build_object(
             'operation', 'start', 'workflow', 'syncSeats', 'workflowId', 'seats-' || id,
             'input', jsonb_build_object('organizationId', id), 'signal', 'membersChanged')
           from organization
           where id in (select "organizationId" from changes)
             and exists (select from plan_limit)
             and exists (select from subscription where "referenceId" = organization.id and status in ('active', 'trialing', 'past_due'));
       return null;
     end $$`,
  `create trigger seats_after_member_insert after insert on member referencing new table as changes
     for each statement execute function request_seat_sync()`,
  `create trigger seats_after_member_delete after delete on member referencing old table as changes
     for each statement execute function request_seat_sync()`,
];
