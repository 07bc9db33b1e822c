import type { Selectable } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { MailTable } from '../../db/schema.ts';

/** A mail that waits to be sent, or was given up. */
export type MailRow = Selectable<MailTable>;

/** The mail with this id; undefined once it is sent. */
export async function findMail(db: Db, mailId: string): Promise<MailRow | undefined> {
  return db.selectFrom('mail').selectAll().where('id', '=', mailId).executeTakeFirst();
}
