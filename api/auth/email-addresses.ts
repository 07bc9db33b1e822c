import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { email, emailPattern } from '../../contract/fields.ts';

/**
 * Makes better-auth accept the same addresses as the service (`contract/fields.ts`). It uses zod's pattern, which refuses valid ones and
 * cannot be replaced by an option. So this recompiles zod's pattern for every `z.email()` of the process.
 */
export function setEmailRule(): void {
  z.regexes.email.compile(emailPattern.source);
}

/** The address of a provider's user with its domain as A-labels; undefined if the service does not accept it. */
export function toEmail(given: unknown): string | undefined {
  const at = typeof given === 'string' ? given.lastIndexOf('@') : -1;
  if (typeof given !== 'string' || at < 0) return undefined;
  const { data } = email.safeParse(`${given.slice(0, at)}@${domainToASCII(given.slice(at + 1))}`);
  return data;
}
