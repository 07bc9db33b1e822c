import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { email, emailPattern } from '../contract/fields.ts';

/**
 * Makes better-auth take the addresses that the service takes (`contract/fields.ts`). It checks them with zod's own pattern, which refuses
 * lawful ones, and has no option for another; so zod's is compiled anew, for every `z.email()` of the process.
 */
export function setEmailRule(): void {
  z.regexes.email.compile(emailPattern.source);
}

/** The address of a provider's user with its domain as A-labels; undefined if it is none that the service takes. */
export function toEmail(given: unknown): string | undefined {
  const at = typeof given === 'string' ? given.lastIndexOf('@') : -1;
  if (typeof given !== 'string' || at < 0) return undefined;
  const { data } = email.safeParse(`${given.slice(0, at)}@${domainToASCII(given.slice(at + 1))}`);
  return data;
}
