import type { Logger } from 'pino';
import type { Db } from '../db/connect.ts';
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

/** What sign-in and the contact form send with: resolves once the mail is written down, from where it is sent durably. */
export function createMailQueue({ db, log, dispatch, enabled }: MailQueueOptions): (mail: NewMail) => Promise<void> {
  return async (mail) => {
    if (enabled) dispatch([await inTransaction(db, (trx) => queueMail(trx, mail))]);
    else log.warn({ kind: mail.kind }, 'a mail was dropped: no email provider is configured');
  };
}
