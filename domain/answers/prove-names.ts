import { foldText } from './fold-text.ts';
import { isStopWord, languagesOf, wordsOf } from './languages.ts';
import { plainText } from './plain-text.ts';
import { readNames } from './read-names.ts';

/** The texts in which the names of a sentence are looked up. */
interface NamedIn {
  /** The quoted sentences, the titles and the headings. */
  texts: string[];
  /** The passages and the question, which show whether a word is a name. */
  words: string[];
  /** Whether the texts are recognized: then a name may differ by a letter. */
  recognized: boolean;
}

/** Whether a plain text has a name that the other texts do not have, or have less often. */
export function lacksName(said: string, { texts, words, recognized }: NamedIn): boolean {
  const known = texts.flatMap((text) => wordsOf(plainText(text)).map(fold));
  const timesKnown = (part: string) => known.filter((word) => word === part || isLike(part, word, recognized)).length;
  const isCommon = languagesOf(said).includes('de') ? nounOf(words, texts) : inSmallLetters(words);
  const names = readNames(said, (word) => timesKnown(fold(word)) > 0 || isCommon(word));
  const parts = names.flatMap((name) => wordsOf(name.replace(/'s?$/, '')).map(fold));
  return parts.some((part) => timesKnown(part) < parts.filter((other) => other === part).length);
}

function inSmallLetters(texts: string[]): (word: string) => boolean {
  const found = new Set(texts.flatMap((text) => plainText(text).match(/(?<![\p{L}\p{M}\p{N}])\p{Ll}[\p{L}\p{M}\p{N}]*/gu) ?? []));
  return (word) => found.has(word);
}

const minNoun = 4;
/** Two words with capital letters: a title or a name, and a surname. An article may open a sentence. */
const besideCapital = /(\p{Lu}[\p{L}.]{1,80}) (?=(\p{Lu}\p{Ll}+))/gu;

/**
 * Whether texts have a word, a compound with it, or a part of it, so that it is a noun. Always, if the quotes are in another language: they
 * cannot show whether a German noun is a name.
 */
function nounOf(texts: string[], quoted: string[]): (word: string) => boolean {
  const languages = languagesOf(quoted.join(' '));
  if (languages.length > 0 && !languages.includes('de')) return () => true;
  const pairs = texts.flatMap((text) => [...plainText(text).matchAll(besideCapital)]);
  const named = new Set(pairs.flatMap(([, first = '', name = '']) => (isStopWord(first) ? [] : [name.toLowerCase()])));
  const found = [...new Set(texts.flatMap((text) => wordsOf(plainText(text))))].filter((word) => !named.has(word));
  const isIn = (part: string, whole: string) => part === whole || (part.length >= minNoun && whole.includes(part));
  return (word) => found.some((other) => isIn(word, other) || isIn(other, word));
}

function fold(word: string): string {
  return foldText(word).folded;
}

/** Whether two words are forms of the same name; in recognized text also if one letter differs. */
function isLike(name: string, word: string, recognized: boolean): boolean {
  const [short, long] = name.length < word.length ? [name, word] : [word, name];
  if (short.length >= 3 && long === `${short}s`) return true;
  let common = 0;
  while (common < short.length && short[common] === long[common]) common += 1;
  const inflected =
    /^[\p{Script=Cyrillic}\p{Script=Greek}]+$/u.test(short) && common >= 3 && short.length - common <= 2 && long.length - common <= 3;
  return inflected || (recognized && short.length >= 4 && differsByOne(short, long, common));
}

/** Whether two words differ by one letter: another one, an added one, or two for one, as `rn` for `m`. */
function differsByOne(short: string, long: string, common: number): boolean {
  const rests = long.length === short.length ? [short.slice(common + 1)] : [short.slice(common), short.slice(common + 1)];
  return long.length - short.length <= 1 && rests.some((rest, index) => long.slice(common + 1 + index) === rest);
}

const caseless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}]/u;
const leastShare = 0.6;

/**
 * Whether a sentence in a script without capital letters has too few of the words of its quotes, since its names cannot be recognized.
 * False if the quotes are in another script.
 */
export function lacksWords(said: string, quoted: string): boolean {
  const folded = foldText(said).folded;
  const pairs = Array.from(folded, (_, index) => folded.slice(index, index + 2)).filter(
    ([one = '', two = '']) => caseless.test(one) && caseless.test(two),
  );
  if (pairs.length < 3 || !caseless.test(quoted)) return false;
  return pairs.filter((pair) => quoted.includes(pair)).length < pairs.length * leastShare;
}

/** Whether a text is in a script whose words have no borders, or that has no capital letters. */
export function isCaseless(text: string): boolean {
  return caseless.test(text);
}
