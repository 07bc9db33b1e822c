import { stemmer } from 'stemmer';
import { stopWordsOf } from '../language/stop-words.ts';
import { wordsOf } from '../language/words.ts';

/** A unit vector over terms, as parallel arrays with rising term numbers. */
export interface SparseVector {
  terms: Uint32Array;
  weights: Float64Array;
}

/** TF-IDF vectors of sentences over their common vocabulary, and the number of words of each. */
export interface SentenceVectors {
  vectors: SparseVector[];
  termCount: number;
  wordCounts: number[];
}

/** Turns sentences into TF-IDF unit vectors: stemmed words without stop words, rare words weigh more. */
export function vectorize(sentences: string[]): SentenceVectors {
  const words = sentences.map((sentence) => wordsOf(sentence));
  const stopWords = stopWordsOf(words.flat());
  const numberOf = new Map<string, number>();
  const counts = words.map((list) => countTerms(list, stopWords, numberOf));
  const documentFrequency = new Float64Array(numberOf.size);
  for (const count of counts) for (const term of count.keys()) documentFrequency[term] = (documentFrequency[term] ?? 0) + 1;
  const idf = documentFrequency.map((frequency) => Math.log(1 + sentences.length / frequency));
  return { vectors: counts.map((count) => unitVector(count, idf)), termCount: numberOf.size, wordCounts: words.map((list) => list.length) };
}

/** Cosine of two unit vectors. */
export function similarity(a: SparseVector, b: SparseVector): number {
  let sum = 0;
  let j = 0;
  for (let i = 0; i < a.terms.length; i += 1) {
    const term = a.terms[i] ?? 0;
    while (j < b.terms.length && (b.terms[j] ?? 0) < term) j += 1;
    if (b.terms[j] === term) sum += (a.weights[i] ?? 0) * (b.weights[j] ?? 0);
  }
  return sum;
}

function countTerms(words: string[], stopWords: ReadonlySet<string>, numberOf: Map<string, number>): Map<number, number> {
  const counts = new Map<number, number>();
  for (const word of words) {
    if (stopWords.has(word)) continue;
    const stem = stemmer(word);
    let term = numberOf.get(stem);
    if (term === undefined) {
      term = numberOf.size;
      numberOf.set(stem, term);
    }
    counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return counts;
}

function unitVector(counts: Map<number, number>, idf: Float64Array): SparseVector {
  const entries = [...counts].sort(([a], [b]) => a - b);
  const terms = Uint32Array.from(entries, ([term]) => term);
  const weights = Float64Array.from(entries, ([term, count]) => (1 + Math.log(count)) * (idf[term] ?? 0));
  const length = Math.hypot(...weights) || 1;
  return { terms, weights: weights.map((weight) => weight / length) };
}
