import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { HeldPlace } from './take-place.ts';

/** Makes the lease of a place last for `leaseSeconds` from now. False where it had ended and another stream has the place. */
export async function keepPlace(db: Db, { userId, place, holder }: HeldPlace, leaseSeconds: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('job_stream_lease')
    .set({ expires_at: sql`now() + make_interval(secs => ${leaseSeconds})` })
    .where('user_id', '=', userId)
    .where('place', '=', place)
    .where('holder', '=', holder)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
