import simplified from 'opencc-js/dict/TSCharacters';
import { joinVowels, partSigns } from './compose.ts';

const ascii = /^[\0-\x7f]*$/;
/** The ending of an English possessive. */
export const possessive = /['’]s(?![\p{L}\p{N}])/giu;
/** Points of Hebrew and Arabic, which are mostly left out, and the stroke that makes an Arabic word longer. */
const points = /[\u0591-\u05c7\u064b-\u0652\u0670\u0640]/g;
const otherDigit = /[٠-٩۰-۹]/g;
const han = /\p{Script=Han}/gu;
const simplifiedOf = new Map(simplified.split('|').map((pair) => pair.split(' ') as [string, string]));

/** Accents that do not make another letter, by script. Elsewhere they do: й is not и. */
const accents = /(?<=[\p{Script=Latin}\p{Script=Greek}])\p{Mn}+|(?<=е)\u0308|[\u0653-\u0655]/gu;
const letters: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ı: 'i', ς: 'σ' };
const foldedLetter = /[ßæœøđðłþıς]/g;

/** Letters with a sign, and how they are spelled without it. */
const spelledOut: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };

/** The languages in which accents make other words, rather than other spellings of a word. */
const accented = new Set(['vi']);

/** Whether a language has other words with accents than without: Vietnamese `ma`, `má` and `mạ`. */
export function keepsAccents(language: string | undefined): boolean {
  return language !== undefined && accented.has(language);
}

/**
 * A text as words are looked for in it: in lower case and NFKC, without points and possessive endings, with European digits and simplified
 * Chinese characters. Accents stay: stems need them, and {@link fold} drops them.
 */
export function lower(text: string): string {
  if (ascii.test(text)) return text.toLowerCase().replace(possessive, ' ');
  const composed = joinVowels(partSigns(text).normalize('NFKC').toLowerCase());
  return simplify(composed.replace(points, '').replace(otherDigit, (digit) => String(digit.charCodeAt(0) & 0xf))).replace(possessive, ' ');
}

/** Writes Chinese characters in their simplified form, one for one. */
export function simplify(text: string): string {
  return text.replace(han, (character) => simplifiedOf.get(character) ?? character);
}

/** A word of {@link lower} without its accents, by the letters by which words of most languages are compared: `ß` is `ss`, `ё` is `е`. */
export function fold(word: string): string {
  if (ascii.test(word)) return word;
  const bare = word.normalize('NFKD').replace(accents, '');
  return joinVowels(bare.replace(foldedLetter, (letter) => letters[letter] ?? letter).normalize('NFC'));
}

/** A word of {@link lower} as it is spelled where a keyboard lacks its letters: `ue` for `ü`. */
export function spellOut(word: string): string {
  return word.replace(/[äöüøå]/g, (letter) => spelledOut[letter] ?? letter);
}
