import { findTolerantly, shapesOf } from './find-tolerantly.ts';
import { type FoldedText, foldText } from './fold-text.ts';

/** The position of a quote in a text, by indexes. */
interface FoundQuote {
  start: number;
  end: number;
  /** False if it differs from the text by more than hyphens, spaces, marks and the like. */
  exact: boolean;
}

const letter = /[\p{L}\p{N}]/u;
const mark = /\p{M}/u;
/** Scripts without spaces between words: where a word begins or ends is not known. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * Finds a quote in a text. It must begin and end with a whole word or number. Hyphens, spaces, ligatures, quotation marks and Unicode forms
 * may differ; in recognized text also a few letters, but no digits. What begins at the index `from` or behind it is found before what stands
 * before it.
 */
export function findQuote(
  quote: string,
  text: FoldedText & { text: string },
  { recognized, from = 0 }: { recognized: boolean; from?: number },
): FoundQuote | undefined {
  const folded = foldText(quote);
  const wanted = folded.folded;
  if (wanted === '') return undefined;
  let found: number | undefined;
  for (let at = text.folded.indexOf(wanted); at >= 0; at = text.folded.indexOf(wanted, at + 1)) {
    if (!isWhole(text, at, at + wanted.length)) continue;
    found ??= at;
    if ((text.starts[at] ?? 0) >= from) {
      found = at;
      break;
    }
  }
  if (found !== undefined) return { ...indexesOf(text, found, found + wanted.length, quote), exact: true };
  if (!recognized) return undefined;
  const shapes = shapesOf(text);
  const near = findTolerantly(shapesOf(folded), shapes, (index) => !cutsAt(shapes, index));
  return near && { ...indexesOf({ ...shapes, text: text.text }, near.start, near.end, quote), exact: false };
}

function isWhole(text: FoldedText, start: number, end: number): boolean {
  return !cutsAt(text, start) && !cutsAt(text, end);
}

/** Whether an index of the folded text is within a word, a number or a character. */
function cutsAt({ folded, starts, ends }: FoldedText, at: number): boolean {
  const [before, after] = [folded[at - 1] ?? '', folded[at] ?? ''];
  if (before === '' || after === '') return false;
  if (starts[at] === starts[at - 1] || mark.test(after)) return true;
  if (isNumberSign(folded, at - 1) || (/\d/.test(before) && isNumberSign(folded, at))) return true;
  const adjoin = ends[at - 1] === starts[at];
  return adjoin && letter.test(before) && letter.test(after) && !(unspaced.test(before) || unspaced.test(after));
}

/** Whether the sign at an index of the folded text belongs to the number beside it. */
function isNumberSign(folded: string, at: number): boolean {
  const sign = folded[at] ?? '';
  if (sign === ' ')
    return /(?:^|\D)\d{1,3}$/.test(folded.slice(Math.max(0, at - 4), at)) && /^\d{3}(?!\d)/.test(folded.slice(at + 1, at + 5));
  return sign !== '\n' && sign !== '' && !/[\p{L}\p{M}\p{N}\p{S}%‰#&@§]/u.test(sign);
}

const opening = /(?<![("“«„‘'[¿¡])[("“«„‘'[¿¡]*$/u;
const closing = /^[)\]»”’"'.!?…。！？]*/u;

/** The indexes of a found quote in the text, with as many punctuation marks around it as the quote has. */
function indexesOf({ text, starts, ends }: FoldedText & { text: string }, from: number, to: number, quote: string) {
  const [start, end] = [starts[from] ?? 0, ends[to - 1] ?? 0];
  const marksBefore = /^[^\p{L}\p{N}]*/u.exec(quote.trim())?.[0].length ?? 0;
  const marksAfter = /(?<![^\p{L}\p{N}])[^\p{L}\p{N}]*$/u.exec(quote.trim())?.[0].length ?? 0;
  const before = opening.exec(text.slice(Math.max(0, start - marksBefore), start))?.[0] ?? '';
  const after = closing.exec(text.slice(end, end + marksAfter))?.[0] ?? '';
  return { start: start - before.length, end: end + after.length };
}
