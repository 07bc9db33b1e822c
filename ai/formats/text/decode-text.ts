import iconv from 'iconv-lite';
import type { Notice } from '../notice.ts';
import { countBroken, findCharset } from './find-charset.ts';

const boms: [charset: string, bytes: number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
];
/** Charsets for which Node has no decoder. */
const others = /^(?:cp\d{3}|utf-32[lb]e)$/;

/** A text document, and what had to be guessed or was lost. */
export interface DecodedText {
  text: string;
  notices: Notice[];
}

/**
 * Decodes a text document. A byte order mark wins, then the declared charset, then what the bytes look like, which a notice tells. Never
 * throws: what cannot be decoded becomes U+FFFD, which another notice tells.
 */
export function decodeText(bytes: Uint8Array, declared: string | undefined): DecodedText {
  const known = charsetOfBom(bytes) ?? knownCharset(declared);
  const found = known === undefined ? findCharset(bytes) : { charset: known, confidence: null };
  const { text, broken } = decode(bytes, found.charset);
  const notices: Notice[] = [];
  if (found.confidence !== null) {
    const guess = `The text names no charset. It was read as ${found.charset} by what its bytes look like`;
    notices.push({ code: 'charset_guessed', text: `${guess}, with a confidence of ${found.confidence} of 100.` });
  }
  if (broken > 0) {
    const signs = broken === 1 ? '1 sign is' : `${broken} signs are`;
    notices.push({ code: 'signs_not_decoded', text: `${signs} not in ${found.charset}, and became U+FFFD.` });
  }
  return { text, notices };
}

/** Decodes bytes of a charset that {@link knownCharset} names. What cannot be decoded becomes U+FFFD. */
export function decodeBytes(bytes: Uint8Array, charset: string): string {
  return others.test(charset) ? iconv.decode(Buffer.from(bytes), charset) : new TextDecoder(charset).decode(bytes);
}

/** The charset of the byte order mark, if there is one. */
export function charsetOfBom(bytes: Uint8Array): string | undefined {
  return boms.find(([, bom]) => bom.every((byte, index) => bytes[index] === byte))?.[0];
}

/** The canonical name of a charset label; undefined if there is no decoder for it. */
export function knownCharset(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    const name = label.toLowerCase().replace(/^ibm-?(?=\d)/, 'cp');
    return others.test(name) && iconv.encodingExists(name) ? name : undefined;
  }
}

function decode(bytes: Uint8Array, charset: string): { text: string; broken: number } {
  try {
    if (!others.test(charset)) return { text: new TextDecoder(charset, { fatal: true }).decode(bytes), broken: 0 };
  } catch {
    // It is decoded once more below.
  }
  const text = decodeBytes(bytes, charset);
  return { text, broken: countBroken(text) };
}
