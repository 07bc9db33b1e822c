import type { Logger } from 'pino';
import type { Db, Transaction } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import { countMail, type NewMail, queueMail } from '../domain/mail.ts';

interface MailQueueOptions {
  db: Db;
  log: Logger;
  /** False if no email provider is configured: mails are then dropped, and the log says so. */
  enabled: boolean;
}

/** The interface through which sign-in and the contact form send mails. */
export interface MailQueue {
  /** Resolves once the mail is stored, from where a workflow sends it. */
  send(mail: NewMail): Promise<void>;
  /** Stores mails in the transaction that causes them. */
  write(trx: Transaction, mails: NewMail[]): Promise<void>;
}

/** Kinds that anybody can have sent to any address. Invitations have their own bound, and the contact form has one recipient. */
const bounded = new Set<NewMail['kind']>(['verification', 'password-reset', 'email-change']);

export function createMailQueue({ db, log, enabled }: MailQueueOptions): MailQueue {
  const write: MailQueue['write'] = async (trx, mails) => {
    for (const mail of mails) {
      if (!enabled) log.warn({ kind: mail.kind }, 'a mail was dropped: no email provider is configured');
      else if (bounded.has(mail.kind) && !(await countMail(trx, mail)))
        log.info({ kind: mail.kind }, 'a mail too many to one address was dropped');
      else await queueMail(trx, mail);
    }
  };
  return { write, send: (mail) => inTransaction(db, (trx) => write(trx, [mail])) };
}
