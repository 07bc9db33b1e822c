import type { PageCharacters } from './page-characters.ts';
import type { RawLine } from './page-text.ts';
import { rightThresholds } from './pdf-thresholds.ts';
import { joinedHyphen } from './pdfium.ts';

const { leastBlank, widestBlank } = rightThresholds;
const rightToLeft = /[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]/u;
const arabicLetter = /[\p{L}&&[\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}]]/v;
const leftToRight = /[\p{L}--[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]]/v;
const digit = /\p{Nd}/u;
const withinNumber = /[.,:/\u066b\u066c]/;
const withinNumberOfHebrew = /[-+\u2212]/;
const brackets: Record<string, string> = { '(': ')', ')': '(', '[': ']', ']': '[', '{': '}', '}': '{' };
const besideNumber = /[%$€£₪#°]/;

/** What stands at one place of a line: a letter with its marks. */
interface Sign {
  text: string;
  at: number[];
  left: number;
  right: number;
  /** Its place among the signs as PDFium returns them, and whether a blank follows it there. */
  place: number;
  isLast: boolean;
}

/** Whether more letters of some text are of scripts from right to left than not. */
export function isRightToLeft(text: string): boolean {
  let balance = 0;
  for (const character of text) balance += rightToLeft.test(character) ? 1 : leftToRight.test(character) ? -1 : 0;
  return balance > 0;
}

/**
 * A line from right to left in the order in which it is read, from where its letters stand. PDFium turns numbers, words of other scripts and
 * ligatures within such a line around.
 */
export function orderRightToLeft(line: RawLine, characters: PageCharacters, onLeftwardPage: boolean): RawLine {
  if (line.raw.includes(joinedHyphen) || !rightToLeft.test(line.raw)) return line;
  const isMostly = isRightToLeft(line.raw);
  if (!isMostly && !onLeftwardPage) return line;
  const signs = signsOf(line, characters);
  const size = line.at[0] === undefined ? 0 : characters.fontSizeOf(line.at[0]) * characters.formOf(line.at[0]).scale;
  if (!signs || size <= 0) return line;
  const byPlace = [...signs];
  signs.sort((one, other) => one.left - other.left);
  // Names in Latin letters may be most of a line that begins at the right.
  if (!isMostly && !rightToLeft.test(signs.at(-1)?.text ?? '')) return line;
  const gapAfter = (index: number) => (signs[index + 1]?.left ?? Number.POSITIVE_INFINITY) - (signs[index]?.right ?? 0);
  const isFarApart = (index: number) => gapAfter(index) > widestBlank * size;
  const isApart = (index: number): boolean => {
    const [one, other] = [signs[index], signs[index + 1]].sort((a, b) => (a?.place ?? 0) - (b?.place ?? 0));
    // The letters of a ligature have changed places.
    if (one && other && other.place - one.place <= 2) return byPlace.slice(one.place, other.place).some(({ isLast }) => isLast);
    return gapAfter(index) > leastBlank * size;
  };
  const ordered: RawLine = { raw: '', at: [] };
  for (let end = signs.length - 1; end >= 0; ) {
    const start = startOfRun(signs, end, isApart, isFarApart);
    for (let index = start; index <= end; index += 1) {
      const sign = signs[index] as Sign;
      append(ordered, sign.text, sign.at);
      const isBlank = index < end ? isApart(index) : start > 0 && isApart(start - 1);
      if (isBlank) append(ordered, ' ', [sign.at.at(-1) ?? 0]);
    }
    end = start - 1;
  }
  return { ...ordered, raw: turnBrackets(ordered.raw) };
}

/** A PDF stores a bracket by its shape, so `)` opens in a line from right to left. */
function turnBrackets(text: string): string {
  return text
    .replace(/(?<=^|\s)[)\]}](?=\S)/g, (bracket) => brackets[bracket] ?? bracket)
    .replace(/(?<=\S)[([{](?=$|[\s.,;:!?،؛؟])/g, (bracket) => brackets[bracket] ?? bracket);
}

/** Where the run from left to right begins that ends with a sign; the sign itself if it is of none. */
function startOfRun(signs: Sign[], end: number, isApart: (index: number) => boolean, isFarApart: (index: number) => boolean): number {
  const at = (index: number) => signs[index]?.text ?? '';
  if (!leftToRight.test(at(end)) && !digit.test(at(end)) && (isArabic(signs) || !besideNumber.test(at(end)))) return end;
  let start = numberFrom(signs, end, isApart);
  // Words of another script go on over blanks and signs, to their first letter.
  for (let index = start; index >= 0 && !rightToLeft.test(at(index)) && (index === end || !isFarApart(index)); index -= 1) {
    if (leftToRight.test(at(index))) start = index > 0 && !isApart(index - 1) ? numberFrom(signs, index, isApart) : index;
  }
  return start;
}

/** Where a number begins that ends with a sign. */
function numberFrom(signs: Sign[], end: number, isApart: (index: number) => boolean): number {
  const inArabic = isArabic(signs);
  const at = (index: number) => signs[index]?.text ?? '';
  const goesOn = (index: number): boolean => {
    if (index < 0 || isApart(index)) return false;
    if (digit.test(at(index)) || (!inArabic && besideNumber.test(at(index)))) return true;
    const isWithin = withinNumber.test(at(index)) || (!inArabic && withinNumberOfHebrew.test(at(index)));
    return isWithin && digit.test(at(index + 1)) && index > 0 && !isApart(index - 1) && digit.test(at(index - 1));
  };
  let start = end;
  while (goesOn(start - 1)) start -= 1;
  return start;
}

/** Among Arabic letters signs are parted from numbers when they are drawn: `15%` looks like `%15`. */
function isArabic(signs: Sign[]): boolean {
  return signs.some(({ text }) => arabicLetter.test(text));
}

/** The signs of a line; undefined if it is not known where one stands. */
function signsOf({ raw, at }: RawLine, characters: PageCharacters): Sign[] | undefined {
  const signs: Sign[] = [];
  for (const { 0: text, index } of raw.matchAll(/\S/gu)) {
    const indexes = at.slice(index, index + text.length);
    const extent = characters.advanceOf(indexes[0]);
    if (!extent) return undefined;
    const last = signs.at(-1);
    // Marks, and the letters of a ligature, stand at the place of what they belong to.
    const isSame = last && extent[0] === last.left && extent[1] === last.right;
    if (last && isSame && arabicLetter.test(text)) {
      last.text = text + last.text;
      last.at.unshift(...indexes);
    } else if (last && (isSame || /\p{M}/u.test(text))) append(last, text, indexes);
    else signs.push({ text, at: indexes, left: extent[0], right: extent[1], place: signs.length, isLast: false });
    const sign = signs.at(-1);
    if (sign) sign.isLast = /^\s/.test(raw.slice(index + text.length));
  }
  return signs;
}

function append(to: RawLine | Sign, text: string, at: number[]): void {
  if ('raw' in to) to.raw += text;
  else to.text += text;
  to.at.push(...at);
}
