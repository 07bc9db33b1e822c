import { lower, spellOut } from '../../base/text/fold.ts';
import { languagesOf } from '../../base/text/languages.ts';
import { stemOf } from '../../base/text/stems.ts';
import { stopWordsOf } from '../../base/text/stop-words.ts';
import { cut, divide, spacedRun, writtenOf } from './terms.ts';

/** How much a word counts as it is written, and how much by its stem. */
const weights = { written: 1 / 3, stem: 2 / 3 };

/** A letter that is a stop word only of languages that elide: it is a name in `hepatitis B` and `Plan C`, and none in `l'eau`. */
const letterName = /^[b-df-hj-np-tvwxz]$/;
const isOfLetters = /^[\p{L}\p{M}]+$/u;
const hasLetterOrDigit = /[\p{L}\p{N}]/u;

/** A word of a query that may be misspelled or a part of a compound. */
export interface QueryWord {
  /** As it is written, folded. */
  word: string;
  /** All terms that stand for it, its stem last. */
  terms: string[];
}

/** What a query looks for: distinct terms with their weights, and its words. */
export interface ReadQuery {
  terms: Map<string, number>;
  words: QueryWord[];
  /** The languages that it may have, the likeliest first. */
  languages: string[];
}

/**
 * Reads a query: its words as they are written and by their stems in each language that it may have, without the stop words of all of these,
 * unless it has nothing else. A Chinese, Japanese or Korean run gives only its pairs, unless it is a single character.
 */
export function readQuery(query: string): ReadQuery {
  const languages = languagesOf(query);
  const lowered = lower(query);
  const spared = withoutStopWords(lowered, languages);
  const text = hasLetterOrDigit.test(spared) ? spared : lowered;
  const terms = new Map<string, number>();
  const words = new Map<string, QueryWord>();
  const add = (term: string, weight: number) => terms.set(term, Math.max(terms.get(term) ?? 0, weight));
  const addWord = (word: string) => {
    const written = [...new Set([writtenOf(word), writtenOf(spellOut(word))])];
    const stems = [...new Set(languages.map((language) => cut(stemOf(word, language))))];
    for (const one of written) add(one, stems.includes(one) ? 1 : weights.written);
    for (const one of stems) add(one, written.includes(one) ? 1 : weights.stem);
    for (const one of written) if (isOfLetters.test(one)) words.set(one, { word: one, terms: [...new Set([...written, ...stems])] });
  };
  divide(text, { singly: false }, { addWord, addTerm: (term) => add(cut(term), 1) });
  return { terms, words: [...words.values()], languages };
}

function withoutStopWords(lowered: string, languages: string[]): string {
  const isStopWord = (word: string) => languages.every((language) => stopWordsOf(language).has(word));
  const isName = (run: string, at: number) => letterName.test(run) && !/['’]/.test(lowered[at + run.length] ?? '');
  return lowered.replace(spacedRun, (run, at: number) => (isStopWord(run) && !isName(run, at) ? ' ' : run));
}
