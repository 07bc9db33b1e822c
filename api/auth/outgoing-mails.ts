import type { Transaction } from '../../db/connect.ts';
import { currentRequest, withRequest } from './actor.ts';
import type { Mail } from './mails.ts';

/** Stores mails in a transaction. They are sent after its commit. */
export type WriteMails = (trx: Transaction, mails: Mail[]) => Promise<void>;

/**
 * Runs a request and collects its mails. better-auth does not wait for a mail and ignores its errors. So a mail is stored by the
 * transaction in which better-auth sends it, or at the end of the request.
 */
export function collectMails<T>(request: () => T): T {
  return withRequest({ mails: [] }, request);
}

/** Adds a mail to the request's. Throws outside of a request. */
export function addMail(mail: Mail): void {
  collected().push(mail);
}

/** Removes and returns the mails that were added. */
export function takeMails(): Mail[] {
  return currentRequest().mails?.splice(0) ?? [];
}

/** How many mails wait to be taken. */
export function countMails(): number {
  return currentRequest().mails?.length ?? 0;
}

/** Drops all but the first `count` mails, because the transaction of the others was rolled back. */
export function dropMailsAfter(count: number): void {
  currentRequest().mails?.splice(count);
}

function collected(): Mail[] {
  const { mails } = currentRequest();
  if (!mails) throw new Error('a mail of sign-in belongs to a request');
  return mails;
}
