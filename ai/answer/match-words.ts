import { stemmer } from 'stemmer';
import { stopWordsOf, wordsOf } from '../words.ts';
import { askingWords } from './question-kind.ts';

/** The words that a sentence should have to respond: those of the question that mean something, as stems, each once. */
export function questionTerms(question: string): string[] {
  const words = wordsOf(question);
  const stopWords = stopWordsOf(words);
  const kept = words.filter((word) => !stopWords.has(word) && !askingWords.has(word)).flatMap(withoutParticle);
  return [...new Set((kept.length > 0 ? kept : words).map(stemmer))];
}

const particle = /^\p{Script=Hiragana}+|(?<!\p{Script=Hiragana})\p{Script=Hiragana}+$/gu;

/** Of a pair of Japanese characters, what is no ending or particle, if it has anything else. */
function withoutParticle(word: string): string[] {
  if (!/\p{Script=Hiragana}/u.test(word)) return [word];
  const rest = word.replace(particle, '');
  return rest === '' ? [] : [rest];
}

/** The distinct stems of a text, stop words included. */
export function stemsOf(text: string): Set<string> {
  return new Set(wordsOf(text).map(stemmer));
}

const minPart = 5;
const maxEnding = 3;

/** How well a text has a term, from 0 to 1: the word itself, one that begins or ends with it, or one with another ending. */
export function matchOf(term: string, stems: ReadonlySet<string>): number {
  if (stems.has(term)) return 1;
  let best = 0;
  for (const stem of stems) best = Math.max(best, likenessOf(term, stem));
  return best;
}

function likenessOf(term: string, stem: string): number {
  const [short, long] = term.length < stem.length ? [term, stem] : [stem, term];
  if (/^\p{Script=Han}$/u.test(short)) return long.includes(short) ? 0.8 : 0;
  if (short.length < minPart) return 0;
  if (long.startsWith(short)) return 0.8;
  if (long.endsWith(short)) return 0.7;
  // Only English words have stems here: the endings of others are told by what is before them.
  const common = commonLength(short, long);
  const isInflected = common >= minPart && long.length - common <= maxEnding && short.length - common <= maxEnding - 1;
  return isInflected && common >= long.length * 0.6 ? 0.6 : 0;
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
