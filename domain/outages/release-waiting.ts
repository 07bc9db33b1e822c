import { sql } from 'kysely';
import { signalAttemptDue } from '../../contract/intents/definitions.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import type { WaitCause } from '../../db/schema.ts';
import { isSuspended } from '../organizations/suspension.ts';

/**
 * Makes jobs that wait for a part due, or without one those of all parts that are not down any more, and wakes their workflows: at most
 * `limit`, one of each organization in turn. Leaves out those of suspended organizations, and those whose lock another transaction holds.
 * Returns how many.
 */
export async function releaseWaiting(trx: Transaction, { part, limit }: { part?: WaitCause; limit: number }): Promise<number> {
  const ofPart = part === undefined ? sql`waits_for not in (select part from provider_outage)` : sql`waits_for = ${part}`;
  const isWaiting = sql`status = 'queued' and waiting_since is not null and next_attempt_at > clock_timestamp() and not ${isSuspended}`;
  const { rows } = await sql<{ id: string; organization_id: string }>`
    with waiting as (
      select id, created_at, row_number() over (partition by organization_id order by created_at, id) as turn
      from job where ${isWaiting} and ${ofPart}
    ), chosen as (
      select id from job where id in (select id from waiting order by turn, created_at limit ${limit}) and ${isWaiting}
      order by id for update skip locked
    )
    update job set next_attempt_at = clock_timestamp(), updated_at = clock_timestamp()
    from chosen where job.id = chosen.id returning job.id, job.organization_id
  `.execute(trx);
  for (const { id, organization_id } of rows) addToOutbox(trx, signalAttemptDue(id, organization_id));
  return rows.length;
}
