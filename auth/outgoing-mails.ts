import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transaction } from '../db/connect.ts';
import type { Mail } from './mails.ts';

/** Writes mails down in a transaction. They are sent after its commit. */
export type WriteMails = (trx: Transaction, mails: Mail[]) => Promise<void>;

const outgoing = new AsyncLocalStorage<Mail[]>();

/**
 * Runs a request, whose mails are kept until somebody takes them. better-auth neither waits for a mail nor looks whether it
 * failed, so that nothing is written where it asks for one: the transaction it is in takes them, else the end of the request.
 */
export function collectMails<T>(request: () => T): T {
  return outgoing.run([], request);
}

/** Keeps a mail until it is taken. Throws outside of a request. */
export function addMail(mail: Mail): void {
  collected().push(mail);
}

/** The mails that were added and not taken yet, and forgets them. */
export function takeMails(): Mail[] {
  return outgoing.getStore()?.splice(0) ?? [];
}

/** How many mails wait to be taken. */
export function countMails(): number {
  return outgoing.getStore()?.length ?? 0;
}

/** Forgets the mails that were added after there were `count`: what caused them was rolled back. */
export function dropMailsAfter(count: number): void {
  outgoing.getStore()?.splice(count);
}

function collected(): Mail[] {
  const mails = outgoing.getStore();
  if (!mails) throw new Error('a mail of sign-in belongs to a request');
  return mails;
}
