import type { Db } from '../../db/connect.ts';
import type { HeldPlace } from './take-place.ts';

/** Frees a place, unless another stream has it by now. */
export async function leavePlace(db: Db, { userId, place, holder }: HeldPlace): Promise<void> {
  await db.deleteFrom('job_stream_lease').where('user_id', '=', userId).where('place', '=', place).where('holder', '=', holder).execute();
}
