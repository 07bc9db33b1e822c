import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerConfig } from '../config/server.ts';
import type { Db } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import { collectMails, takeMails, type WriteMails } from './outgoing-mails.ts';

type Handler = (request: Request) => Promise<Response>;

interface Dependencies {
  config: Pick<ServerConfig, 'requireEmailVerification'>;
  db: Db;
  writeMails: WriteMails;
}

/**
 * How long what must not tell whether an address has an account takes at least, in milliseconds: more than the half second that
 * better-auth gives the mail of verification, and more than hashing a password and writing a mail take.
 */
const quietMs = 750;

/**
 * Wraps better-auth's handler: a request is answered once its mails are committed, together with what caused them if
 * better-auth has a transaction. Throws if a mail cannot be written; the client then asks again.
 */
export function handleWithMails(handler: Handler, { config, db, writeMails }: Dependencies): Handler {
  const quietPaths = new Set(['/api/auth/request-password-reset', '/api/auth/send-verification-email']);
  // Without verification sign-up says openly that an address is taken.
  if (config.requireEmailVerification) quietPaths.add('/api/auth/sign-up/email');
  return (request) =>
    collectMails(async () => {
      const earliest = quietPaths.has(pathOf(request)) ? sleep(quietMs) : undefined;
      try {
        const response = await handler(request);
        const mails = takeMails();
        if (mails.length > 0) await inTransaction(db, (trx) => writeMails(trx, mails));
        return response;
      } finally {
        await earliest;
      }
    });
}

function pathOf(request: Request): string {
  return new URL(request.url).pathname.replace(/\/+$/, '');
}
