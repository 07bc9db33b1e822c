import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { orFailedQuery } from './failed-query.ts';
import { collectMails, takeMails, type WriteMails } from './outgoing-mails.ts';
import { constraints } from './rule-errors.ts';

type Handler = (request: Request) => Promise<Response>;

interface Dependencies {
  config: Pick<ServerConfig, 'requireEmailVerification'>;
  db: Db;
  writeMails: WriteMails;
  /** Signs up with this body again, without the rate limit. */
  signUp(request: Request, body: unknown): Promise<Response>;
}

/**
 * A response that must not reveal whether an address has an account takes this many milliseconds, or a multiple if it had to wait. That is
 * longer than better-auth's half second for the verification mail, and than hashing a password and storing a mail.
 */
const quietMs = 750;
const signUpPath = '/api/auth/sign-up/email';
const usersPath = '/api/auth/admin/list-users';

/**
 * Wraps better-auth's handler. The response is sent after the request's mails are committed, in the transaction of the change if
 * better-auth uses one. Throws if a mail cannot be stored, so that the client retries.
 */
export function handleWithMails(better: Handler, { config, db, writeMails, signUp }: Dependencies): Handler {
  const quietPaths = new Set(['/api/auth/request-password-reset', '/api/auth/send-verification-email', '/api/auth/change-email']);
  // Without verification of addresses, sign-up says openly that an address is taken.
  if (config.requireEmailVerification) quietPaths.add(signUpPath);
  const handler = config.requireEmailVerification ? withQuietSignUp(better, signUp) : better;
  return (request) =>
    collectMails(async () => {
      const startedAt = performance.now();
      try {
        const response = await orFailedQuery(pathOf(request) === usersPath ? [200, 401] : [401], () => handler(request));
        const mails = takeMails();
        if (mails.length > 0) await inTransaction(db, (trx) => writeMails(trx, mails));
        return response;
      } finally {
        if (quietPaths.has(pathOf(request))) await sleep(quietMs - ((performance.now() - startedAt) % quietMs));
      }
    });
}

/**
 * Handles two concurrent sign-ups with one address: the slower one finds it free, and then taken, which would reveal that it was free. So
 * the slower one signs up again and gets the response for a taken address.
 */
function withQuietSignUp(handler: Handler, signUp: Dependencies['signUp']): Handler {
  return async (request) => {
    if (pathOf(request) !== signUpPath) return await handler(request);
    const copy = request.clone();
    const response = await handler(request);
    if (response.status !== 400) return response;
    const { code } = (await response.clone().json()) as { code?: unknown };
    return code === constraints.user_email_key.code ? await signUp(copy, await copy.json()) : response;
  };
}

function pathOf(request: Request): string {
  return new URL(request.url).pathname.replace(/\/$/, '');
}
