import { lower } from './fold.ts';
import { divideRun, pairedRun, pairsOf, unspacedRun } from './scripts.ts';
import { stemOf } from './stems.ts';
import { stopWordsOf } from './stop-words.ts';

const word = /\p{N}+(?:[.,]\p{N}+)*|[\p{L}\p{M}\p{N}]+/gu;

/**
 * The words of a text, in the form of `lower`: those of scripts without spaces first, then the others in order. A Chinese, Japanese or Korean
 * run gives its pairs of characters, a Thai one the words of a dictionary; `1,200` is `1200`.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  const collect = (some: string[]) => {
    // A run may be longer than the arguments that a call takes.
    for (const one of some) words.push(one);
    return ' ';
  };
  const spaced = lower(text)
    .replace(pairedRun, (run) => collect(pairsOf(run)))
    .replace(unspacedRun, (run) => collect(divideRun(run).map(({ segment }) => segment)));
  for (const [found] of spaced.matchAll(word)) words.push(/^\p{N}/u.test(found) ? found.replaceAll(',', '') : found);
  return words;
}

/** The stems of a text's words in a language, without its stop words unless there is nothing else. Repeated ones are repeated. */
export function contentStemsOf(text: string, language: string | undefined): string[] {
  const words = wordsOf(text);
  const stopWords = stopWordsOf(language);
  const kept = words.filter((one) => !stopWords.has(one));
  return (kept.length > 0 ? kept : words).map((one) => stemOf(one, language));
}
