/** Soft hyphens, and spaces and joiners without a width: nobody sees them within a word. */
const unseen = /^[\u00ad\u200b\u2060]/;
const fraction = /^[\u00bc-\u00be\u2150-\u215f\u2189]/;
const trademark = /^[™℠®]/;
/** What NFKC would glue to the word before: `™` is TM, `¹` is 1 and `½` is 1⁄2. */
const signs = /[\u00ad\u200b\u2060]|[™℠®]|[\u00bc-\u00be\u2150-\u215f\u2189]|[⁰¹²³⁴-⁹]+/g;
/** Numbers of footnotes follow such a word. After fewer letters they are part of it: `m²`. */
const longWord = /[\p{L}\p{M}](?:[\u00ad\u200b\u2060]?[\p{L}\p{M}]){3}[\u00ad\u200b\u2060]?$/u;
/** {@link longWord} needs no more of a text, even if each of its characters is two units of UTF-16. */
const longWordLength = 16;
/** A character with its marks, also those of half width; or digits, which are one sign. Hangul is found without being composed. */
const segment = /[⁰¹²³⁴-⁹]+|.[\p{M}\u00ad\u200b\u2060\uff9e\uff9f]*/gsu;

/** Takes out what is not seen, and parts signs from the word before them. */
export function partSigns(text: string): string {
  return text.replace(signs, (sign, at: number) => partSign(sign, text, at));
}

function partSign(sign: string, text: string, at: number): string {
  if (unseen.test(sign)) return '';
  if (trademark.test(sign)) return ' ';
  if (fraction.test(sign)) return ` ${sign}`;
  return longWord.test(text.slice(Math.max(0, at - longWordLength), at)) ? ' ' : sign;
}

/** A text in NFKC, with parted signs, and where each of its indexes is in the text as it was. */
export interface ComposedText {
  text: string;
  startOf(index: number): number;
  /** Where the character ends that has this index. */
  endOf(index: number): number;
}

/** Composes a text as terms have it. */
export function compose(text: string): ComposedText {
  if (partSigns(text).normalize('NFKC') === text) return { text, startOf: (index) => index, endOf: (index) => index + 1 };
  const starts: number[] = [];
  const ends: number[] = [];
  const composed = text.replace(segment, (part, start: number) => {
    const own = part.replace(signs, (sign, at: number) => partSign(sign, text, start + at)).normalize('NFKC');
    for (let at = 0; at < own.length; at += 1) {
      starts.push(start);
      ends.push(start + part.length);
    }
    return own;
  });
  return { text: composed, startOf: (index) => starts[index] as number, endOf: (index) => ends[index] as number };
}
