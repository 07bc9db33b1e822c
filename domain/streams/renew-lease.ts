import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { StreamLease } from './acquire-lease.ts';

/** Makes a lease last for `leaseSeconds` from now. False if it had ended and another stream has it. */
export async function renewStreamLease(db: Db, { userId, place, holder }: StreamLease, leaseSeconds: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('job_stream_lease')
    .set({ expires_at: sql`now() + make_interval(secs => ${leaseSeconds})` })
    .where('user_id', '=', userId)
    .where('place', '=', place)
    .where('holder', '=', holder)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
