import type { Notice } from '../notice.ts';
import { charsetOfBom, type DecodedText, decodeBytes, decodeText, knownCharset } from '../text/decode-text.ts';
import { findWideCharset, isMostlyUtf8 } from '../text/find-charset.ts';

/** A charset that a header names beside `us-ascii`, which many name for any text. What a page names is not known to the reader of mails. */
const namedCharset = /^content-type:[^<]{0,300}?charset\s*=\s*["']?(?!us-ascii)[\w.:-]/im;
/**
 * The blank by which a quoted line says that it goes on. The reader of mails would leave the quote's sign in the midst of the sentence. The
 * beginning of the line is looked at last: from each blank, it would take quadratic time.
 */
const flowsOn = /(?<! |=20)(?: |=20)+(?=\r?\n)(?<=^>[^\r\n]*)/gm;
/** The line between the headers and the text, on which some programs write blanks. */
const blankLine = /(\r?\n)[ \t]*\r?\n/;
const contentTypes = /^content-type:[^\n]*(?:\n[ \t][^\n]*)*/gim;
const charsets = /(charset\s*=\s*["']?)([\w.:-]+)/gi;
const usAscii = /(charset\s*=\s*["']?)us-ascii/gi;

/**
 * Brings a mail into the form that its reader knows: no lines before its headers, and UTF-8 if it has letters beyond ASCII without a
 * charset. A mail in UTF-16, as some programs save it, becomes UTF-8.
 */
export function decodeMail(source: Uint8Array): { bytes: Uint8Array; notices: Notice[] } {
  const wide = charsetOfBom(source) ?? findWideCharset(source)?.charset;
  const whole = wide?.startsWith('utf-') ? Buffer.from(decodeBytes(source, wide)) : Buffer.from(source);
  // Latin-1 keeps each byte.
  const found = whole
    .toString('latin1')
    .replace(/^(?:\xef\xbb\xbf)?(?:[ \t]*\r?\n)+/, '')
    .replace(blankLine, '$1$1');
  const mail = /format\s*=\s*"?flowed/i.test(found) ? found.replace(flowsOn, '') : found;
  const end = /\r?\n\r?\n/.exec(mail)?.index ?? mail.length;
  const head = decodePart(mail.slice(0, end));
  // Parts that name their charset are decoded by it.
  const body = namedCharset.test(mail) ? undefined : decodePart(mail.slice(end));
  if (!head && !body) return { bytes: Buffer.from(mail, 'latin1'), notices: [] };
  const encode = (part: DecodedText | undefined, raw: string) => {
    const text = part?.text ?? raw;
    return Buffer.from(body ? text.replace(usAscii, '$1utf-8') : text, part ? 'utf8' : 'latin1');
  };
  const bytes = Buffer.concat([encode(head, mail.slice(0, end)), encode(body, mail.slice(end))]);
  return { bytes, notices: (body ?? head)?.notices ?? [] };
}

/** A mail in UTF-8 where it names a charset that nobody knows, and that name; undefined if it names none. */
export function withoutUnknownCharset(bytes: Uint8Array): { bytes: Uint8Array; name: string } | undefined {
  let name: string | undefined;
  const rename = (all: string, before: string, label: string) => {
    if (knownCharset(label) !== undefined) return all;
    name ??= label;
    return `${before}utf-8`;
  };
  const mail = Buffer.from(bytes).toString('latin1');
  const renamed = mail.replace(contentTypes, (header) => header.replace(charsets, rename));
  return name === undefined ? undefined : { bytes: Buffer.from(renamed, 'latin1'), name };
}

/** The text of a part that is not in UTF-8, by the charset that its bytes look like; undefined if it is. */
function decodePart(part: string): DecodedText | undefined {
  const bytes = Buffer.from(part, 'latin1');
  return isMostlyUtf8(bytes) ? undefined : decodeText(bytes, undefined);
}
