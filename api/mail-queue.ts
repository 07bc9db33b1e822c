import type { Logger } from 'pino';
import type { Db } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import { type NewMail, queueMail } from '../domain/mail.ts';

export interface MailQueueOptions {
  db: Db;
  log: Logger;
  /** False where no email provider is configured: then mails are dropped, and the log says so. */
  enabled: boolean;
}

/** What sign-in and the contact form send with: resolves once the mail is written down, from where it is sent durably. */
export function createMailQueue({ db, log, enabled }: MailQueueOptions): (mail: NewMail) => Promise<void> {
  return async (mail) => {
    if (enabled) await inTransaction(db, (trx) => queueMail(trx, mail));
    else log.warn({ kind: mail.kind }, 'a mail was dropped: no email provider is configured');
  };
}
