import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { startObjectDeletion } from '../../workflows/definitions.ts';

/** The workflow deletes an object within moments of its time, unless it has many before it. */
const lateSeconds = 60;

/**
 * Starts the workflows that delete objects for organizations whose next object is a minute late, in case theirs is gone with Temporal's
 * database; a start meets a workflow that runs and changes nothing. Takes at most `limit` organizations, the latest first. Returns how many.
 */
export async function sweepObjectDeletions(db: Db, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const late = await listLate(trx, limit);
    for (const { organization_id } of late) addToOutbox(trx, startObjectDeletion(organization_id));
    return late.length;
  });
}

/** Reads one entry of an index for each organization: one of them may have millions of objects. */
async function listLate(trx: Transaction, limit: number): Promise<{ organization_id: string }[]> {
  const { rows } = await sql<{ organization_id: string }>`
    with recursive first as (
      (select organization_id, next_attempt_at from object_to_delete order by organization_id, next_attempt_at limit 1)
      union all
      select next.* from first, lateral (
        select organization_id, next_attempt_at from object_to_delete
        where organization_id > first.organization_id order by organization_id, next_attempt_at limit 1
      ) as next
    )
    select organization_id from first
    where next_attempt_at < now() - make_interval(secs => ${lateSeconds})
    order by next_attempt_at limit ${limit}
  `.execute(trx);
  return rows;
}
