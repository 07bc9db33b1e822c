import { dictionary } from '@zxcvbn-ts/language-common';

/** better-auth refuses shorter passwords, with a code of its own. */
const minLength = 8;
const common = new Set(dictionary['passwords-common']);

/** Whether a password is long enough and one of the fifty thousand most common ones, whatever its case. There is no other rule for it. */
export function isCommonPassword(password: string): boolean {
  return password.length >= minLength && common.has(password.toLowerCase());
}
