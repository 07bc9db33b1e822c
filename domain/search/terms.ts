import { fold, keepsAccents, lower } from '../../base/text/fold.ts';
import {
  groups,
  joinDimensions,
  joinGroups,
  nationalOf,
  normalizeNumbers,
  partsOfMixed,
  phones,
  withoutSigns,
} from '../../base/text/identifiers.ts';
import { languageOf } from '../../base/text/languages.ts';
import { divideRun, pairedRun, pairsOf, unspacedRun } from '../../base/text/scripts.ts';
import { stemOf } from '../../base/text/stems.ts';
import { stopWordsOf } from '../../base/text/stop-words.ts';

/** A longer word is cut, so that no text makes a large key. */
const maxTermLength = 64;

/**
 * Words and numbers, and the characters that join them to an identifier: `INV-2024-001`, `ada@example.com`, `foo_bar`, `28.31`; `C++` and
 * `C#`.
 */
export const spacedRun =
  /(?<![\p{L}\p{M}\p{N}])[A-Za-z](?:\+\+|#)(?![\p{L}\p{M}\p{N}])|[\p{L}\p{M}\p{N}]+(?:[-_.,:/@+#&][\p{L}\p{M}\p{N}]+)*/gu;
export const joiner = /[-_.,:/@+#&]/;
const joinedWord = /^\p{L}+[-.]\p{L}+$/u;
const hasDigit = /\d/;

/** The article that Arabic and Hebrew write as a part of the word. */
const article = /^(?:ال(?=\p{Script=Arabic}{3})|ה(?=\p{Script=Hebrew}{3}))/u;

/** The term of a word of `lower` as it is written: folded, without the article of Arabic and Hebrew. */
export function writtenOf(word: string): string {
  return cut(fold(word).replace(article, ''));
}

/**
 * The terms of a text, for search by words, in no order that matters: words as they are written and their stems in the text's language,
 * numbers, and identifiers both whole and in parts. Repeated terms are repeated. A text that tells no language is taken for English.
 */
export function termsOf(text: string, language = languageOf(text) ?? 'en'): string[] {
  const terms: string[] = [];
  eachTerm(text, (term) => terms.push(term), language);
  return terms;
}

/** Calls `visit` with each of {@link termsOf}, which avoids the garbage of an array for each chunk of a long document. */
export function eachTerm(text: string, visit: (term: string) => void, language = languageOf(text) ?? 'en'): void {
  const stopWords = stopWordsOf(language);
  const addWord = (word: string) => {
    const written = writtenOf(word);
    visit(written);
    // A query that has other words leaves stop words out: their stems would find nothing.
    const stem = stopWords.has(word) && !keepsAccents(language) ? written : cut(stemOf(word, language));
    if (stem !== written) visit(stem);
  };
  divide(lower(text), { singly: true }, { addWord, addTerm: (term) => visit(cut(term)) });
}

interface Collect {
  /** Gets words, to be stemmed. */
  addWord: (word: string) => void;
  /** Gets numbers, identifiers, and pairs of characters. */
  addTerm: (term: string) => void;
}

/** Divides a text of `lower` into words and other terms. `singly`: also single characters of Chinese, so that a query of one finds it. */
export function divide(lowered: string, { singly }: { singly: boolean }, { addWord, addTerm }: Collect): void {
  const addIfAny = (term: string | undefined) => term !== undefined && addTerm(term);
  const spaced = lowered
    .replace(pairedRun, (run) => {
      if (singly) for (const character of run) addTerm(character);
      if (!singly || [...run].length > 1) for (const pair of pairsOf(run)) addTerm(pair);
      return ' ';
    })
    .replace(unspacedRun, (run) => {
      for (const { segment } of divideRun(run)) addWord(segment);
      return ' ';
    });
  if (hasDigit.test(spaced)) {
    for (const run of spaced.match(groups) ?? []) addIfAny(joinGroups(run));
    for (const run of spaced.match(phones) ?? []) addIfAny(nationalOf(run));
  }
  const normalized = normalizeNumbers(joinDimensions(spaced));
  const cells = singly && normalized !== spaced ? cellsOf(spaced) : [];
  for (const run of [...(normalized.match(spacedRun) ?? []), ...cells]) {
    const parts = run.endsWith('+') || run.endsWith('#') ? [run] : run.split(joiner);
    for (const one of parts) {
      addWord(one);
      if (hasDigit.test(one)) for (const some of partsOfMixed(one)) addWord(some);
    }
    if (parts.length === 1) continue;
    // `Wi-Fi` is `wifi`, too, and `Node.js` is `nodejs`.
    if (joinedWord.test(run)) addWord(parts.join(''));
    if (!isIdentifier(run)) continue;
    addTerm(fold(run));
    addIfAny(withoutSigns(fold(run)));
  }
}

/** The cells of rows like `sku-7,120,450`, of which some may have been taken for one number with signs of thousands. */
function cellsOf(spaced: string): string[] {
  const rows = spaced.match(spacedRun)?.filter((run) => /,.*,/.test(run)) ?? [];
  return rows.flatMap((row) => {
    const known = normalizeNumbers(row).split(',');
    return row.split(',').filter((cell) => !known.includes(cell));
  });
}

/** Whether a run is an identifier. Words that only a hyphen or a slash joins are not, since their parts find them as well. */
function isIdentifier(run: string): boolean {
  return /[\p{N}_@.:#+&]/u.test(run);
}

/** The term of a word that is already folded. */
export function cut(word: string): string {
  return word.length > maxTermLength ? word.slice(0, maxTermLength).toWellFormed() : word;
}
