import { type Selectable, sql } from 'kysely';
import type { Db, Transaction } from '../db/connect.ts';
import { addToOutbox } from '../db/outbox.ts';
import type { MailKind, MailTable } from '../db/schema.ts';
import { startMail } from '../workflows/definitions.ts';
import { newId } from './ids.ts';

/** A mail to be sent: plain text, everything but `text` on one line. */
export interface NewMail {
  kind: MailKind;
  to: string;
  replyTo?: { address: string; name?: string | undefined };
  subject: string;
  text: string;
}

/** Stores a mail, and asks for the workflow that sends it (docs/rules.md, ids in histories). */
export async function queueMail(trx: Transaction, { kind, to, replyTo, subject, text }: NewMail): Promise<void> {
  const id = newId();
  await trx
    .insertInto('mail')
    .values({
      id,
      kind,
      recipient: to,
      reply_to_address: replyTo?.address ?? null,
      reply_to_name: replyTo?.name ?? null,
      subject,
      body: text,
    })
    .execute();
  addToOutbox(trx, startMail({ mailId: id, kind }));
}

/** A mail that waits to be sent, or could not be sent. */
export type MailRow = Selectable<MailTable>;

/**
 * The mail with this id, to be sent; undefined once it is sent. Throws if the database takes no writes: it could not forget the mail then,
 * which would be sent by each attempt.
 */
export async function findMailToSend(db: Db, mailId: string): Promise<MailRow | undefined> {
  // The lock ends with the statement. A database that only reads refuses it, as it would refuse the deletion.
  return db.selectFrom('mail').selectAll().where('id', '=', mailId).forUpdate().executeTakeFirst();
}

/** Records why the mail server refused a mail, in its own words, for the operator. */
export async function noteMailFailure(db: Db, mailId: string, reason: string): Promise<void> {
  await db
    .updateTable('mail')
    .set({ attempts: sql`attempts + 1`, last_error: reason.slice(0, 500) })
    .where('id', '=', mailId)
    .execute();
}

/** Records that a mail is no longer tried. */
export async function stopMail(db: Db, mailId: string): Promise<void> {
  await db.updateTable('mail').set({ stopped_at: sql<Date>`now()` }).where('id', '=', mailId).execute();
}

/** Deletes a mail that was sent: its recipient and text are personal data. */
export async function removeMail(db: Db, mailId: string): Promise<void> {
  await db.deleteFrom('mail').where('id', '=', mailId).execute();
}
