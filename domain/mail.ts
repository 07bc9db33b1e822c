import { createHash } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { startMail } from '../contract/intents/definitions.ts';
import type { Db, Transaction } from '../db/connect.ts';
import { addToOutbox } from '../db/outbox.ts';
import type { MailKind, MailTable } from '../db/schema.ts';
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

/** The maximum number of mails per hour, address and kind, for kinds that anybody can request. */
const maxPerHour = 5;

/** Counts a mail to be sent; false if its recipient has reached the maximum of its kind for this hour. */
export async function countMail(trx: Transaction, { kind, to }: NewMail): Promise<boolean> {
  const address = createHash('sha256').update(to.toLowerCase()).digest('hex');
  const begins = sql<boolean>`recent_mail.since <= now() - interval '1 hour'`;
  const { sent } = await trx
    .insertInto('recent_mail')
    .values({ kind, address_hash: address })
    .onConflict((conflict) =>
      conflict.columns(['kind', 'address_hash']).doUpdateSet({
        sent: sql`case when ${begins} then 1 else recent_mail.sent + 1 end`,
        since: sql`case when ${begins} then now() else recent_mail.since end`,
      }),
    )
    .returning('sent')
    .executeTakeFirstOrThrow();
  await sql`delete from recent_mail where ctid in (
    select ctid from recent_mail where since <= now() - interval '1 hour' order by since limit 100 for update skip locked
  )`.execute(trx);
  return sent <= maxPerHour;
}

/** A mail that waits to be sent, or could not be sent. */
export type MailRow = Selectable<MailTable>;

/**
 * The mail with this id, to be sent; undefined once it is sent. Throws if the database takes no writes: the mail could not be deleted after
 * sending, and each attempt would send it again.
 */
export async function findMailToSend(db: Db, mailId: string): Promise<MailRow | undefined> {
  // The lock ends with the statement. A read-only database refuses it, as it would refuse the deletion.
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

/** Records that no more attempts are made to send a mail. */
export async function stopMail(db: Db, mailId: string): Promise<void> {
  await db.updateTable('mail').set({ stopped_at: sql<Date>`now()` }).where('id', '=', mailId).execute();
}

/** Deletes a mail that was sent: its recipient and text are personal data. */
export async function removeMail(db: Db, mailId: string): Promise<void> {
  await db.deleteFrom('mail').where('id', '=', mailId).execute();
}
