import type { Logger } from 'pino';
import type { Db, Transaction } from '../db/connect.ts';
import type { OutboxMessage } from '../db/outbox.ts';
import { inTransaction } from '../db/transaction.ts';
import { type NewMail, queueMail } from '../domain/mail/queue-mail.ts';

export interface MailQueueOptions {
  db: Db;
  log: Logger;
  dispatch(messages: OutboxMessage[]): void;
  /** False where no email provider is configured: then mails are dropped, and the log says so. */
  enabled: boolean;
}

/** What sign-in and the contact form send with. */
export interface MailQueue {
  /** Resolves once the mail is written down, from where it is sent durably. */
  send(mail: NewMail): Promise<void>;
  /** Writes mails down in the transaction of what causes them; what it returns is to be called after the commit. */
  write(trx: Transaction, mails: NewMail[]): Promise<() => void>;
}

export function createMailQueue({ db, log, dispatch, enabled }: MailQueueOptions): MailQueue {
  const write: MailQueue['write'] = async (trx, mails) => {
    const messages: OutboxMessage[] = [];
    for (const mail of mails) {
      if (enabled) messages.push(await queueMail(trx, mail));
      else log.warn({ kind: mail.kind }, 'a mail was dropped: no email provider is configured');
    }
    return () => dispatch(messages);
  };
  return { write, send: async (mail) => (await inTransaction(db, (trx) => write(trx, [mail])))() };
}
