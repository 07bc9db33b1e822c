import { ServiceError } from '../service-error.ts';
import type { SourceDocument } from './document.ts';
import { charsetOfBom, decodeBytes } from './text/decode-text.ts';
import { findWideCharset, isMostlyUtf8 } from './text/find-charset.ts';

/** How much of a file is looked at, in bytes. */
const headBytes = 1024;
const strangeSigns = /[[\p{Cc}\p{Cn}\p{Co}\ufffd]--[\t\n\f\r]]/gv;
const maxStrange = 0.02;

interface Kind {
  /** The name of this kind of file in the error for a file that was declared as another kind. */
  name: string;
  /** The media types that a file of this kind may be declared as. */
  types: (contentType: string) => boolean;
  begins: (head: Buffer) => boolean;
}

const text = new Set(['text/plain', 'text/markdown', 'text/csv', 'text/html', 'application/json']);
/** The kinds that are archives inside. Which of them it is, its reader finds out. */
const zipped = /^application\/(?:vnd\.openxmlformats-officedocument\.|vnd\.oasis\.opendocument\.|epub\+zip$)/;
const is = (type: string) => (contentType: string) => contentType === type;
const begins = (bytes: string) => (head: Buffer) => head.toString('latin1', 0, bytes.length) === bytes;

/** The kinds that their first bytes tell beyond doubt. Text never begins so: what is no prefix of letters holds bytes that text has not. */
const kinds: Kind[] = [
  { name: 'a PDF', types: is('application/pdf'), begins: (head) => /^%PDF-\d\.\d\s*[\r\n]/.test(head.toString('latin1', 0, 16)) },
  { name: 'a PNG image', types: is('image/png'), begins: begins('\x89PNG\r\n\x1a\n') },
  { name: 'a JPEG image', types: is('image/jpeg'), begins: begins('\xff\xd8\xff') },
  { name: 'a WebP image', types: is('image/webp'), begins: (head) => /^RIFF[\s\S]{4}WEBPVP8/.test(head.toString('latin1', 0, 15)) },
  { name: 'a TIFF image', types: is('image/tiff'), begins: (head) => begins('II*\0')(head) || begins('MM\0*')(head) },
  { name: 'a GIF image', types: is('image/gif'), begins: (head) => /^GIF8[79]a[\s\S]{4}[\x80-\xff]/.test(head.toString('latin1', 0, 11)) },
  { name: 'a ZIP archive', types: (type) => zipped.test(type), begins: begins('PK\x03\x04') },
  { name: 'a compressed file', types: () => false, begins: begins('\x1f\x8b\x08') },
  {
    name: 'an Office document of the old format, or an encrypted one',
    types: () => false,
    begins: begins('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
  },
  {
    name: 'an RTF document',
    types: (type) => type === 'application/rtf' || text.has(type),
    begins: begins('{\\rtf'),
  },
  {
    name: 'an HTML page',
    types: (type) => text.has(type),
    begins: (head) => /^(?:\ufeff|\xef\xbb\xbf)?\s*(?:<!doctype html|<html)[\s>]/i.test(head.toString('latin1')),
  },
];

/**
 * Throws ServiceError 422 `unreadable_document` if a file is beyond doubt of another kind than declared: a PNG image declared as a PDF. A
 * damaged file passes, since its reader reports that itself.
 */
export function checkContent({ bytes, mediaType, charset }: SourceDocument): void {
  const content = contradictionOf(mediaType, bytes, charset);
  if (content === undefined) return;
  throw new ServiceError(422, 'unreadable_document', `The file is ${content}, but was declared as ${mediaType}.`);
}

/** The kind of a file by its first bytes, if it contradicts the declared one; undefined otherwise, and for unknown kinds. */
export function contradictionOf(mediaType: string, bytes: Uint8Array, charset?: string): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, headBytes));
  const kind = kinds.find((candidate) => candidate.begins(head));
  if (kind !== undefined) return kind.types(mediaType) ? undefined : kind.name;
  return text.has(mediaType) && isBinary(head, charset) ? 'a binary file' : undefined;
}

/** A text may hold a stray zero byte, and UTF-16 and UTF-32 hold many. A file of nothing but zeros counts as an empty text. */
function isBinary(head: Buffer, charset: string | undefined): boolean {
  const zeros = head.filter((byte) => byte === 0).length;
  if (zeros === 0 || zeros === head.length || /^utf-?(?:16|32)/i.test(charset ?? '')) return false;
  if (/^utf-(?:16|32)/.test(charsetOfBom(head) ?? '')) return false;
  const wide = findWideCharset(head)?.charset;
  if (wide !== undefined) return isStrange(decodeBytes(head, wide));
  return !isMostlyUtf8(head) || zeros > head.length / 10;
}

/** Whether a text has many signs that no text has. The detector takes many a binary file for UTF-16. */
function isStrange(text: string): boolean {
  return text.length - text.replace(strangeSigns, '').length > text.length * maxStrange;
}
