/** How much of a file {@link contradictionOf} needs, in bytes. */
export const headBytes = 1024;

interface Kind {
  /** What a file of this kind is called to who uploaded another. */
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
  { name: 'a GIF image', types: () => false, begins: (head) => /^GIF8[79]a[\s\S]{4}[\x80-\xff]/.test(head.toString('latin1', 0, 11)) },
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
 * What a file is by its first bytes, if it cannot be what it was declared as: `a PNG image` for one declared as a PDF. Undefined if it may
 * be what was declared, or if its kind is unknown: the reader of a damaged file reports that itself, except for text, since any file can be
 * read as text.
 */
export function contradictionOf(contentType: string, head: Uint8Array): string | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, headBytes));
  const kind = kinds.find((candidate) => candidate.begins(bytes));
  if (kind !== undefined) return kind.types(contentType) ? undefined : kind.name;
  return text.has(contentType) && isBinary(bytes) ? 'a binary file' : undefined;
}

const utf16Marks = ['\xff\xfe', '\xfe\xff'];

/**
 * Whether a file is not text: it has a zero byte outside of UTF-16, which has one in every other place. A file of nothing but zeros counts
 * as an empty text.
 */
function isBinary(head: Buffer): boolean {
  if (!head.includes(0) || head.every((byte) => byte === 0) || utf16Marks.some((mark) => begins(mark)(head))) return false;
  const zeros: [number, number] = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2 === 0 ? 0 : 1] += 1;
  const [few, many] = zeros[0] < zeros[1] ? zeros : [zeros[1], zeros[0]];
  const characters = head.length / 2;
  return many < characters * 0.4 || few > characters * 0.05;
}
