import { unmappedThresholds } from './pdf-thresholds.ts';
import type { Pdfium } from './pdfium.ts';

const { ofPage, minToSay, minLetters, maxControls, minVowels, minWordSigns, maxStrange, narrowest } = unmappedThresholds;

/** The characters of a page whose font does not say what they are. */
export interface Unmapped {
  /** By PDFium's index: those that would be read as others than they show. */
  wrong: Set<number>;
  /** `ofPage`: enough for OCR; `ofWords`: enough for a notice. */
  ofPage: boolean;
  ofWords: boolean;
}

const joinedHyphen = 0xfffe;
const unknownSign = /[[\p{Cc}\p{Co}\p{Cn}\ufffd]--\t]/v;
const control = /\p{Cc}/u;
/** Scripts of living languages. Numbers of glyphs, taken for characters, are soon beyond them. */
const usual =
  /[ -\u017f\p{M}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Devanagari}\p{sc=Thai}\p{sc=Hira}\p{sc=Kana}\p{sc=Han}\p{sc=Hang}\p{P}\p{Sc}\p{Sm}\u30fc]/u;
const wide = /[\p{sc=Han}\p{sc=Hang}]/u;

/**
 * Finds the characters of a page that map to nothing: PDFium then returns the code that the font gives them. Some programs take the characters
 * for their codes, so it is wrong only if it does not look like text.
 */
export function findUnmapped(pdfium: Pdfium, textPage: number): Unmapped {
  const count = pdfium.FPDFText_CountChars(textPage);
  const [coded, unknown]: [number[], number[]] = [[], []];
  let [signs, codes] = [0, ''];
  for (let index = 0; index < count; index += 1) {
    const point = pdfium.FPDFText_GetUnicode(textPage, index);
    if (point === 0x20 || point === 0xa0 || point === joinedHyphen || pdfium.FPDFText_IsGenerated(textPage, index) === 1) continue;
    // Damaged maps name numbers that are no characters; PDFium's text has their lower half.
    const character = String.fromCodePoint(point >= 0 && point <= 0x10ffff ? point : point & 0xffff);
    signs += 1;
    if (pdfium.FPDFText_HasUnicodeMapError(textPage, index) === 1) {
      coded.push(index);
      codes += character;
    } else if (unknownSign.test(character)) unknown.push(index);
  }
  const wrong = coded.length > 0 && !looksLikeText(codes) ? coded : [];
  const all = wrong.length + unknown.length;
  // Signs of private use are bullets, mostly.
  const isPage = all >= minLetters && all >= ofPage * signs;
  return { wrong: new Set(isPage ? [...wrong, ...unknown] : wrong), ofPage: isPage, ofWords: isPage || wrong.length >= minToSay };
}

/** Whether the codes of characters may be the characters. Too few are given the benefit of the doubt. */
function looksLikeText(codes: string): boolean {
  const all = [...codes];
  const shareOf = (test: (one: string) => boolean, of = all) => of.filter(test).length / Math.max(1, of.length);
  if (shareOf((one) => control.test(one)) > maxControls) return false;
  if (all.length < minLetters) return true;
  if (shareOf((one) => !usual.test(one)) > maxStrange || isNarrow(all.filter((one) => wide.test(one)))) return false;
  if (shareOf((one) => /[\p{L}\p{M}\p{N}]/u.test(one)) < minWordSigns) return false;
  const latin = [...codes.normalize('NFD')].filter((one) => /[a-z]/i.test(one));
  return latin.length < minLetters || latin.length * 2 < all.length || shareOf((one) => /[aeiouy]/i.test(one), latin) >= minVowels;
}

/** Whether characters of a script of thousands are all near each other. */
function isNarrow(characters: string[]): boolean {
  const points = characters.map((one) => one.codePointAt(0) ?? 0);
  return points.length >= minLetters && Math.max(...points) - Math.min(...points) < narrowest;
}
