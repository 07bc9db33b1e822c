import { z } from 'zod';

/** A key of AES-256, 32 bytes. Its id is in every payload that it has encrypted. */
export interface PayloadKey {
  id: string;
  bytes: Buffer;
}

/** The keys that encrypt and decrypt the payloads of workflows. */
export interface PayloadKeys {
  /** Undefined while nothing is encrypted. */
  current: PayloadKey | undefined;
  /** All keys, including the current one. */
  known: readonly PayloadKey[];
}

/** Stands first instead of a key, if nothing is encrypted but encrypted payloads can be read. */
const plain = 'plain';
const keyBytes = 32;

/** `ID:KEY`, or several separated by commas or line breaks: the first one encrypts, all decrypt. No problem quotes a key. */
export function payloadKeys() {
  return z
    .string()
    .default('')
    .transform((value, context): PayloadKeys => {
      const [first, ...others] = value.split(/[,\n]/).map((entry) => entry.trim());
      const isPlain = first === plain;
      const entries = isPlain ? others : [first ?? '', ...others];
      if (value.trim() === '') return { current: undefined, known: [] };
      const parsed = entries.map((entry, index) => parseKey(entry, index + (isPlain ? 2 : 1)));
      const problems = parsed.filter((each) => typeof each === 'string');
      const known = parsed.filter((each) => typeof each !== 'string');
      for (const problem of [...problems, ...findRepeated(known)]) context.addIssue(problem);
      if (isPlain && entries.length === 0) context.addIssue(`${plain} stands before keys, and there is none`);
      return { current: isPlain ? undefined : known[0], known };
    });
}

/** The key, or a sentence that says what is wrong with it. */
function parseKey(entry: string, position: number): PayloadKey | string {
  const [, id, text = ''] = /^([\w.-]{1,40}):(.*)$/.exec(entry) ?? [];
  if (id === undefined) return `number ${position} must be ID:KEY, with an id of letters, digits, dots and hyphens`;
  if (id === plain) return `no key may have the id ${plain}`;
  if (!isBase64(text)) return `the key ${id} is not base64`;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === keyBytes ? { id, bytes } : `the key ${id} has ${bytes.length} bytes instead of ${keyBytes}`;
}

/** `Buffer.from` skips what is not base64. */
function isBase64(text: string): boolean {
  return text !== '' && Buffer.from(text, 'base64').toString('base64') === text;
}

function findRepeated(keys: readonly PayloadKey[]): string[] {
  return keys.flatMap((key, index) => {
    const before = keys.slice(0, index);
    if (before.some(({ id }) => id === key.id)) return [`the id ${key.id} is there twice`];
    const same = before.find(({ bytes }) => bytes.equals(key.bytes));
    return same ? [`${same.id} and ${key.id} are the same key`] : [];
  });
}
