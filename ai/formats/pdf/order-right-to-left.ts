import { findReadFromLeft, isReadFromRight } from './grouped-numbers.ts';
import type { PageCharacters } from './page-characters.ts';
import type { RawLine } from './page-text.ts';
import { rightThresholds } from './pdf-thresholds.ts';
import { joinedHyphen } from './pdfium.ts';

const { minBlank, maxBlankWidth } = rightThresholds;
const rightToLeft = /[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]/u;
const arabicLetter = /[\p{L}&&[\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}]]/v;
/** What makes the numbers beside it be drawn as Arabic ones. */
const arabic = /[\p{L}&&[\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}]]|[\u0660-\u0669]/v;
const leftToRight = /[\p{L}--[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]]/v;
const digit = /\p{Nd}/u;
const letterOrDigit = /[\p{L}\p{Nd}]/u;
const withinNumber = /[.,:/\u066b\u066c]/;
const withinNumberOfHebrew = /[-+\u2212]/;
const brackets: Record<string, string> = { '(': ')', ')': '(', '[': ']', ']': '[', '{': '}', '}': '{' };
const opening = /[([{]/;
const closing = /[)\]}]/;
const behindBracket = /[.,;:!?،؛؟]/;
const persianDigit = /^[\u06f0-\u06f9]/;
const heldBlank = /^[\u00a0\u202f]\p{Nd}/u;
const besideNumber = /[%$€£₪#°]/;

/** What stands at one place of a line: a letter with its marks, or a sign as it is drawn. */
interface Sign {
  text: string;
  at: number[];
  left: number;
  right: number;
  /** Its place among the signs as PDFium returns them, and whether a blank follows it there. */
  place: number;
  isLast: boolean;
  /** A blank at which a line is not broken follows it, as one between thousands does. */
  isHeld: boolean;
  /** PDFium has not ordered it as the line, so that a blank at one side of it may be at the other one there. */
  isAstray: boolean;
}

/** A line as it is seen, from the left. */
interface SeenLine {
  signs: Sign[];
  /** See {@link findArabic}, {@link findWords} and {@link findNumbers}. */
  inArabic: boolean[];
  words: (number | undefined)[];
  numbers: Map<number, number>;
  /** Whether a blank stands at the right of a sign. */
  isApart(index: number): boolean;
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
  const isNumber = onLeftwardPage && isReadFromRight(line.raw.trim());
  if (line.raw.includes(joinedHyphen) || !(isNumber || rightToLeft.test(line.raw))) return line;
  const isMostly = isRightToLeft(line.raw);
  if (!isMostly && !onLeftwardPage) return line;
  const signs = signsOf(line, characters);
  const size = line.at[0] === undefined ? 0 : characters.fontSizeOf(line.at[0]) * characters.formOf(line.at[0]).scale;
  if (!signs || size <= 0) return line;
  const byPlace = [...signs];
  signs.sort((one, other) => one.left - other.left);
  // Names in Latin letters may be most of a line that begins at the right.
  if (!isMostly && !isNumber && !rightToLeft.test(signs.at(-1)?.text ?? '')) return line;
  const gapAfter = (index: number) => (signs[index + 1]?.left ?? Number.POSITIVE_INFINITY) - (signs[index]?.right ?? 0);
  const isFarApart = (index: number) => gapAfter(index) > maxBlankWidth * size;
  const isApart = (index: number): boolean => {
    const [one, other] = [signs[index], signs[index + 1]].sort((a, b) => (a?.place ?? 0) - (b?.place ?? 0));
    const isWide = gapAfter(index) > minBlank * size;
    // The letters of a ligature have changed places.
    if (!one || !other || other.place - one.place > 2) return isWide;
    const hasBlank = (from: number, to: number) => byPlace.slice(Math.max(0, from), to).some(({ isLast }) => isLast);
    if (one.isAstray || other.isAstray) return isWide && hasBlank(one.place - 1, other.place + 1);
    return hasBlank(one.place, other.place);
  };
  shapeBrackets(signs, isApart);
  const seen: SeenLine = {
    signs,
    inArabic: findArabic(signs, isFarApart),
    words: findWords(signs, isFarApart),
    numbers: findNumbers(signs, isApart, isFarApart),
    isApart,
  };
  const ordered: RawLine = { raw: '', at: [] };
  for (let end = signs.length - 1; end >= 0; ) {
    const start = startOfRun(seen, end);
    for (let index = start; index <= end; index += 1) {
      const sign = signs[index] as Sign;
      // A bracket is drawn by its shape, so `)` opens where it is read from right to left.
      append(ordered, start === end ? (brackets[sign.text] ?? sign.text) : sign.text, sign.at);
      const isBlank = index < end ? isApart(index) : start > 0 && isApart(start - 1);
      if (isBlank) append(ordered, ' ', [sign.at.at(-1) ?? 0]);
    }
    end = start - 1;
  }
  return ordered;
}

/**
 * Some programs store brackets by what they mean. The shape of one beside a blank is known from that, and if it is another one, those without
 * a blank are so, too, except within words from left to right: `f(x)`.
 */
function shapeBrackets(signs: Sign[], isApart: (index: number) => boolean): void {
  const unknown: Sign[] = [];
  let [isByMeaning, openOfWords] = [false, 0];
  for (const [index, sign] of signs.entries()) {
    const other = brackets[sign.text];
    if (!other) continue;
    const [before, after] = [signs[index - 1]?.text ?? '', signs[index + 1]?.text ?? ''];
    const [hasBlankLeft, hasBlankRight] = [index === 0 || isApart(index - 1), isApart(index)];
    const opens = !hasBlankRight && (hasBlankLeft || behindBracket.test(before));
    const closes = hasBlankRight && !hasBlankLeft;
    if ((opens && closing.test(sign.text)) || (closes && opening.test(sign.text))) [sign.text, isByMeaning] = [other, true];
    else if (openOfWords > 0 && closing.test(sign.text)) openOfWords -= 1;
    else if (opening.test(sign.text) && leftToRight.test(before) && letterOrDigit.test(after)) openOfWords += 1;
    else if (!hasBlankLeft && !hasBlankRight) unknown.push(sign);
  }
  if (isByMeaning) for (const sign of unknown) sign.text = brackets[sign.text] ?? sign.text;
}

/** Where the run from left to right begins that ends with a sign; the sign itself if it is of none. */
function startOfRun(line: SeenLine, end: number): number {
  const { signs, inArabic, words, numbers, isApart } = line;
  const text = signs[end]?.text ?? '';
  const first = words[end];
  const number = numbers.get(end);
  if (first === undefined && number !== undefined) return number;
  const isClosing = closing.test(text);
  if (!isClosing && !leftToRight.test(text) && !digit.test(text) && (inArabic[end] || !besideNumber.test(text))) return end;
  const start = isClosing ? end : numberFrom(line, end);
  if (first === undefined || first >= start) return start;
  return first > 0 && !isApart(first - 1) ? numberFrom(line, first) : first;
}

/**
 * For each sign, where the words from left to right begin that go on to it over blanks and signs. A bracket that closes goes on with them if
 * it opens within them: `f(x)`, but not `(IBM)`, whose brackets are those of the line.
 */
function findWords(signs: Sign[], isFarApart: (index: number) => boolean): (number | undefined)[] {
  let first: number | undefined;
  /** For each bracket that is open, whether it opens within words. */
  let open: boolean[] = [];
  let isWithin = false;
  return signs.map(({ text }, index) => {
    if (rightToLeft.test(text) || (index > 0 && isFarApart(index - 1))) [first, open, isWithin] = [undefined, [], false];
    if (leftToRight.test(text)) [first, isWithin] = [first ?? index, true];
    else if (opening.test(text)) open.push(isWithin);
    else if (closing.test(text)) {
      const isOfWords = open.pop();
      isWithin = isOfWords ?? isWithin;
      if (isOfWords === false) first = undefined;
      return isOfWords ? first : undefined;
    }
    return first;
  });
}

/**
 * For each sign, whether it is in a cell with Arabic letters: among them signs are parted from numbers when they are drawn, so that `15%`
 * looks like `%15`.
 */
function findArabic(signs: Sign[], isFarApart: (index: number) => boolean): boolean[] {
  let cell = { isArabic: false };
  const cells = signs.map(({ text }, index) => {
    if (index > 0 && isFarApart(index - 1)) cell = { isArabic: false };
    cell.isArabic ||= arabic.test(text);
    return cell;
  });
  return cells.map(({ isArabic }) => isArabic);
}

/** Where the numbers in groups begin that are read from the left, by their last sign. */
function findNumbers(signs: Sign[], isApart: SeenLine['isApart'], isFarApart: SeenLine['isApart']): Map<number, number> {
  const places: number[] = [];
  let drawn = '';
  for (const [index, { text }] of signs.entries()) {
    // Persian digits are drawn as ours are, unlike the Arabic ones.
    drawn += persianDigit.test(text) ? text.charCodeAt(0) & 0xf : text.charAt(0);
    if (isApart(index)) drawn += isFarApart(index) ? '\t' : ' ';
    while (places.length < drawn.length) places.push(index);
  }
  return new Map(findReadFromLeft(drawn).map(([start, end]) => [places[end - 1] ?? 0, places[start] ?? 0]));
}

/** Where a number begins that ends with a sign. */
function numberFrom({ signs, inArabic: cells, isApart }: SeenLine, end: number): number {
  const inArabic = cells[end];
  const at = (index: number) => signs[index]?.text ?? '';
  const goesOn = (index: number): boolean => {
    if (index < 0 || (isApart(index) && !signs[index]?.isHeld)) return false;
    if (digit.test(at(index)) || (!inArabic && besideNumber.test(at(index)))) return true;
    const isWithin = withinNumber.test(at(index)) || (!inArabic && withinNumberOfHebrew.test(at(index)));
    return isWithin && digit.test(at(index + 1)) && index > 0 && !isApart(index - 1) && digit.test(at(index - 1));
  };
  let start = end;
  while (goesOn(start - 1)) start -= 1;
  return start;
}

/** The signs of a line; undefined if it is not known where one stands. */
function signsOf({ raw, at }: RawLine, characters: PageCharacters): Sign[] | undefined {
  const signs: Sign[] = [];
  const isLeftwardLine = wordsOf(raw, rightToLeft) >= wordsOf(raw, leftToRight);
  let isLeftward = isLeftwardLine;
  // Some fonts have one blank for all.
  const hasBlanks = raw.includes(' ');
  for (const { 0: stored, index } of raw.matchAll(/\S/gu)) {
    // PDFium orders signs as the word before them, and turns brackets around if that is one from right to left.
    if (/\p{L}/u.test(stored)) isLeftward = rightToLeft.test(stored);
    const text = (isLeftward && brackets[stored]) || stored;
    const isAstray = isLeftward !== isLeftwardLine && !letterOrDigit.test(text);
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
    else signs.push({ text, at: indexes, left: extent[0], right: extent[1], place: signs.length, isLast: false, isHeld: false, isAstray });
    const sign = signs.at(-1);
    const behind = raw.slice(index + text.length, index + text.length + 2);
    if (sign) [sign.isLast, sign.isHeld] = [/^\s/.test(behind), hasBlanks && heldBlank.test(behind)];
  }
  return signs;
}

function wordsOf(raw: string, letters: RegExp): number {
  return raw.split(/\P{L}+/u).filter((word) => letters.test(word)).length;
}

function append(to: RawLine | Sign, text: string, at: number[]): void {
  if ('raw' in to) to.raw += text;
  else to.text += text;
  to.at.push(...at);
}
