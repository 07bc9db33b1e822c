import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** Writes down why a mail was not taken, in the server's own words, for the operator who looks for it. */
export async function noteMailFailure(db: Db, mailId: string, reason: string): Promise<void> {
  await db
    .updateTable('mail')
    .set({ attempts: sql`attempts + 1`, last_error: reason.slice(0, 500) })
    .where('id', '=', mailId)
    .execute();
}
