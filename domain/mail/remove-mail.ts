import type { Db } from '../../db/connect.ts';

/** Forgets a mail once it is sent: whom it went to and what it said is nobody's business any more. */
export async function removeMail(db: Db, mailId: string): Promise<void> {
  await db.deleteFrom('mail').where('id', '=', mailId).execute();
}
