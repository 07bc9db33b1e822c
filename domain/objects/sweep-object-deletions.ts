import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
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
    const late = await trx
      .selectFrom('object_to_delete')
      .select('organization_id')
      .where('next_attempt_at', '<', sql<Date>`now() - make_interval(secs => ${lateSeconds})`)
      .groupBy('organization_id')
      .orderBy((eb) => eb.fn.min('next_attempt_at'))
      .limit(limit)
      .execute();
    for (const { organization_id } of late) addToOutbox(trx, startObjectDeletion(organization_id));
    return late.length;
  });
}
