import { sql } from 'kysely';
import { startObjectDeletion } from '../../contract/intents/definitions.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';

/** An object counts as late after this time. The workflow deletes it within moments, unless many are due before it. */
const lateSeconds = 60;

/**
 * Starts the workflows that delete objects for organizations with an object that is a minute late, in case Temporal's database has lost
 * them; starting a running workflow changes nothing. Takes at most `limit` organizations, those whose newest late object has waited longest
 * first. Returns how many.
 */
export async function sweepObjectDeletions(db: Db, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const late = await listLate(trx, limit);
    for (const { organization_id } of late) addToOutbox(trx, startObjectDeletion(organization_id));
    return late.length;
  });
}

/**
 * Reads only two index entries for each organization, since one may have millions of objects. Reads backwards: objects are deleted from the
 * oldest on, and the entries of deleted ones stay in the index until a vacuum removes them.
 */
async function listLate(trx: Transaction, limit: number): Promise<{ organization_id: string }[]> {
  const late = sql`(now() - make_interval(secs => ${lateSeconds}))`;
  const { rows } = await sql<{ organization_id: string }>`
    with recursive owner as (
      (select organization_id from object_to_delete order by organization_id desc, next_attempt_at desc limit 1)
      union all
      select previous.organization_id from owner, lateral (
        select organization_id from object_to_delete
        where organization_id < owner.organization_id order by organization_id desc, next_attempt_at desc limit 1
      ) as previous
    )
    select owner.organization_id from owner, lateral (
      select organization_id, next_attempt_at from object_to_delete
      where (organization_id, next_attempt_at) < (owner.organization_id, ${late})
      order by organization_id desc, next_attempt_at desc limit 1
    ) as last
    where last.organization_id = owner.organization_id
    order by last.next_attempt_at limit ${limit}
  `.execute(trx);
  return rows;
}
