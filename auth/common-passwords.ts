import { dictionary } from '@zxcvbn-ts/language-common';

/** better-auth refuses what is shorter, with a code of its own. */
const minLength = 8;
const common = new Set(dictionary['passwords-common']);

/** Whether a password is long enough and one of the fifty thousand most common ones, in capitals or not. No other rule says what it is made of. */
export function isCommonPassword(password: string): boolean {
  return password.length >= minLength && common.has(password.toLowerCase());
}
