import { endOfCharacters } from '../characters.ts';

const lineEnds = /\r\n?|[\u0085\u2028]/g;
const paragraphEnds = /[\u2029\f\v]/g;
// What Postgres refuses (NUL) or no reader wants: control characters but tab and line feed, byte order marks,
// halves of surrogate pairs that stand alone, and noncharacters, with one of which PDFium marks the hyphen of a word that it has joined.
const unwanted = /[[\p{Cc}\p{Surrogate}\ufeff\ufffe\uffff]--[\t\n]]/gv;

/** Makes text storable and even: line ends are `\n`, no control character but tab, no lone surrogate. */
export function cleanText(text: string): string {
  return text.replace(lineEnds, '\n').replace(paragraphEnds, '\n\n').replace(unwanted, '');
}

/** Cuts to at most `max` characters, which are code points. */
export function cutText(text: string, max: number): { text: string; truncated: boolean } {
  const end = endOfCharacters(text, max);
  return { text: text.slice(0, end), truncated: end < text.length };
}
