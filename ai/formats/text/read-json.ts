import type { RawText, SourceDocument } from '../document.ts';
import { decodeText } from './decode-text.ts';

/** Escapes in a row, behind a backslash that is not itself escaped. */
const escapes = /(?<!\\)((?:\\\\)*)((?:\\u[\da-f]{4})+)/gi;
/** What may stand in JSON only as an escape, or would change its lines: anything but letters, digits and signs beyond ASCII. */
const keptEscaped = /[^[\p{L}\p{M}\p{N}\p{P}\p{S}]--\p{ASCII}]/gv;

/** Reads JSON as it is written, but with the letters that many programs write as escapes: `Gr\u00f6\u00dfe` is found as Größe. */
export function readJson({ bytes, charset }: SourceDocument): RawText {
  const { text, notices } = decodeText(bytes, charset);
  return { text: text.replace(escapes, (_all, before: string, row: string) => before + decode(row)), notices, pages: null };
}

function decode(row: string): string {
  const text: string = JSON.parse(`"${row}"`);
  return text.replace(keptEscaped, (sign) => sign.split('').map(toEscape).join(''));
}

function toEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
