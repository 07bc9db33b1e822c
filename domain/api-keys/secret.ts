import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const secretPrefix = 'sheaf_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 190 bits. */
const randomLength = 32;
const checksumLength = 6;
const shownLength = secretPrefix.length + 4;
const form = new RegExp(`^${secretPrefix}([${alphabet}]{${randomLength}})([${alphabet}]{${checksumLength}})$`);

/**
 * A new secret: `sheaf_`, 32 random characters of base 62, and the CRC-32 of those in six more, by which scanners of secrets know a real one
 * without asking.
 */
export function makeSecret(): string {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${secretPrefix}${random}${checksumOf(random)}`;
}

/** Whether a text has the form and the checksum of a secret. */
export function isSecret(text: string): boolean {
  const [, random, checksum] = form.exec(text) ?? [];
  return random !== undefined && checksum === checksumOf(random);
}

/** The hash that the database keeps of a secret, which has too many bits to be guessed, so no salt and no slow function are needed. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** The beginning of a secret, which may be shown. */
export function prefixOf(secret: string): string {
  return secret.slice(0, shownLength);
}

function checksumOf(random: string): string {
  let rest = crc32(random);
  let digits = '';
  for (let index = 0; index < checksumLength; index++) {
    digits = `${alphabet[rest % alphabet.length]}${digits}`;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
