/** Soft hyphens, and spaces and joiners without a width, which are invisible within a word. */
const unseen = /^[\u00ad\u200b\u2060]/;
const fraction = /^[\u00bc-\u00be\u2150-\u215f\u2189]/;
const trademark = /^[™℠®]/;
/** Signs that NFKC would join to the word before them: `™` becomes TM, `¹` becomes 1 and `½` becomes 1⁄2. */
const signs = /[\u00ad\u200b\u2060]|[™℠®]|[\u00bc-\u00be\u2150-\u215f\u2189]|[⁰¹²³⁴-⁹]+/g;
/** A footnote's number may follow a word of this length. After fewer letters a digit is part of the word: `m²`. */
const longWord = /[\p{L}\p{M}](?:[\u00ad\u200b\u2060]?[\p{L}\p{M}]){3}[\u00ad\u200b\u2060]?$/u;
/** The length of text that {@link longWord} needs, even if each character is two UTF-16 units. */
const longWordLength = 16;
/**
 * A character with its marks, including half-width ones and the vowel of {@link dividedVowel}, a syllable or letters of Hangul, or a run of
 * digits, which are one sign.
 */
const segment =
  /[⁰¹²³⁴-⁹]+|[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|[\u3131-\u318e\uffa0-\uffdc]+|.[\p{M}\u00ad\u200b\u2060\uff9e\uff9f]*(?:(?<=\u0e4d)\u0e32|(?<=\u0ecd)\u0eb2)?/gsu;
/** A vowel of Thai, or of Lao, which the Unicode forms for comparison divide and never join: a dictionary does not know its words then. */
const dividedVowel = /\u0e4d\u0e32|\u0ecd\u0eb2/g;

/** Joins the vowels that normalization has divided. */
export function joinVowels(text: string): string {
  return text.replace(dividedVowel, (vowel) => (vowel === '\u0e4d\u0e32' ? '\u0e33' : '\u0eb3'));
}

/** Removes invisible characters, and separates signs from the word before them. */
export function partSigns(text: string): string {
  return text.replace(signs, (sign, at: number) => partSign(sign, text, at));
}

function partSign(sign: string, text: string, at: number): string {
  if (unseen.test(sign)) return '';
  if (trademark.test(sign)) return ' ';
  if (fraction.test(sign)) return ` ${sign}`;
  return longWord.test(text.slice(Math.max(0, at - longWordLength), at)) ? ' ' : sign;
}

/** A text in NFKC with separated signs, and a mapping of its indexes to the original text. */
interface ComposedText {
  text: string;
  startOf(index: number): number;
  /** The end of the original character at an index of the composed text. */
  endOf(index: number): number;
}

/** Composes a text into the form from which terms are made. */
export function compose(text: string): ComposedText {
  if (joinVowels(partSigns(text).normalize('NFKC')) === text) return { text, startOf: (index) => index, endOf: (index) => index + 1 };
  const starts: number[] = [];
  const ends: number[] = [];
  const composed = text.replace(segment, (part, start: number) => {
    const own = joinVowels(part.replace(signs, (sign, at: number) => partSign(sign, text, start + at)).normalize('NFKC'));
    for (let at = 0; at < own.length; at += 1) {
      starts.push(start);
      ends.push(start + part.length);
    }
    return own;
  });
  return { text: composed, startOf: (index) => starts[index] as number, endOf: (index) => ends[index] as number };
}
