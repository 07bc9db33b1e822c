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
 * The shortest time, in milliseconds, for a response that must not reveal whether an address has an account. It is longer than the half
 * second that better-auth gives the verification mail, and longer than hashing a password and writing a mail take.
 */
const quietMs = 750;

/**
 * Wraps better-auth's handler. The response is sent after the request's mails are committed, in the transaction of the change if
 * better-auth uses one. Throws if a mail cannot be written; the client then asks again.
 */
export function handleWithMails(handler: Handler, { config, db, writeMails }: Dependencies): Handler {
  const quietPaths = new Set(['/api/auth/request-password-reset', '/api/auth/send-verification-email']);
  // If addresses are not verified, sign-up says openly that an address is taken.
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
