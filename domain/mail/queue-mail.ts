import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import type { MailKind } from '../../db/schema.ts';
import { startMail } from '../../workflows/definitions.ts';
import { newId } from '../ids.ts';

/** A mail to be sent: plain text, everything but `text` on one line. */
export interface NewMail {
  kind: MailKind;
  to: string;
  replyTo?: { address: string; name?: string | undefined };
  subject: string;
  text: string;
}

/** Writes a mail down and asks for the workflow that sends it, which carries its id only. */
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
