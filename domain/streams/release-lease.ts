import type { Db } from '../../db/connect.ts';
import type { StreamLease } from './acquire-lease.ts';

/** Frees a lease, unless another stream has it by now. */
export async function releaseStreamLease(db: Db, { userId, place, holder }: StreamLease): Promise<void> {
  await db.deleteFrom('job_stream_lease').where('user_id', '=', userId).where('place', '=', place).where('holder', '=', holder).execute();
}
