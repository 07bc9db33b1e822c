import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { Semaphore } from '../../base/concurrency/semaphore.ts';

/** How many passwords a process hashes at once. Each takes a libuv thread, which files also need, and 32 MiB for a tenth of a second. */
const maxAtOnce = 2;

/** The lengths that better-auth accepts. */
export const passwordLength = { min: 8, max: 128 };

const hashing = new Semaphore(maxAtOnce);

/** better-auth's own functions for passwords. Two run at once, the others wait. */
export const passwords = {
  hash: (password: string): Promise<string> => hashing.run(() => hashPassword(password)),
  verify: (given: { hash: string; password: string }): Promise<boolean> => hashing.run(() => verifyPassword(given)),
};
