import { namesOfDays } from './calendar.ts';
import { isStopWord, languagesOf } from './languages.ts';

const titles = new Set(`mr mrs ms dr prof herr herrn frau monsieur madame mme mlle señor señora sr sra signor signora sir lady`.split(' '));
const token = /[\p{L}\p{N}][\p{L}\p{M}\p{N}']*(?:-[\p{L}\p{N}][\p{L}\p{M}\p{N}']*)*/gu;
const capital = /^\p{Lu}/u;
/** `B-MW`, `NASA`, `McKay`. */
const acronym = /\p{Lu}.*\p{Lu}/u;
const ending = /(?:ly|ing|ed)$/;

interface Word {
  text: string;
  /** Whether it begins a sentence, a quotation or an item of a list. */
  opens: boolean;
  /** Whether only a space is between it and the word before. */
  follows: boolean;
}

/**
 * The words of a plain text that are names, judged by their capital letters. `isCommon` decides about words that have a capital letter for
 * another reason: at the beginning of a sentence, and nouns of German.
 */
export function readNames(text: string, isCommon: (word: string) => boolean): string[] {
  const isGerman = languagesOf(text).includes('de');
  const words = splitWords(text);
  return words.filter((word, index) => isName(word, words[index - 1], words[index + 1], isGerman, isCommon)).map((word) => word.text);
}

function isName(
  word: Word,
  before: Word | undefined,
  after: Word | undefined,
  isGerman: boolean,
  isCommon: (word: string) => boolean,
): boolean {
  const { text, opens } = word;
  if (!capital.test(text) || text.length < 2 || isDay(text) || titles.has(text.toLowerCase()) || isStopWord(text.replace(/'.*/s, '')))
    return false;
  if (acronym.test(text)) return true;
  const beforeName = after?.follows === true && isCapitalized(after) && !isStopWord(after.text);
  const afterName = word.follows && before !== undefined && isCapitalized(before) && !isStopWord(before.text);
  if (afterName || beforeName || !(isGerman || opens)) return true;
  return !(isCommon(text.toLowerCase()) || (!isGerman && ending.test(text)));
}

/** Whether a word is a month or a weekday: dates are compared separately. */
function isDay(word: string): boolean {
  const { months, weekdays } = namesOfDays();
  return months.has(word.toLowerCase()) || weekdays.has(word.toLowerCase().replace(/s$/, ''));
}

function isCapitalized({ text }: Word): boolean {
  return capital.test(text);
}

function splitWords(text: string): Word[] {
  let end = 0;
  return [...text.matchAll(token)].map(({ 0: found, index }) => {
    const between = text.slice(end, index);
    end = index + found.length;
    return { text: found, opens: index === between.length || /[.!?:;"“”«»„(•]/.test(between), follows: /^\.? $/.test(between) };
  });
}
