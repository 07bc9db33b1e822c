import { languageOf } from '../../base/text/languages.ts';
import { stemOf } from '../../base/text/stems.ts';
import { stopWordsOf } from '../../base/text/stop-words.ts';
import { wordsOf } from '../../base/text/words.ts';

const damping = 0.85;
const rounds = 30;

/**
 * Ranks sentences by LexRank without a threshold: a sentence scores high if it resembles others that score high. The similarity matrix
 * is never built; a multiplication by it is one pass over all words, so the time is linear in the length of the text. Returns scores
 * with a mean of about 1.
 */
export function rankSentences({ vectors, termCount }: SentenceVectors): number[] {
  const multiply = (x: Float64Array) => timesSimilarity(vectors, termCount, x);
  const degrees = multiply(new Float64Array(vectors.length).fill(1));
  let scores = new Float64Array(vectors.length).fill(1);
  for (let round = 0; round < rounds; round += 1) {
    const spread = multiply(scores.map((score, index) => score / Math.max(degrees[index] ?? 0, 1e-9)));
    scores = spread.map((value) => 1 - damping + damping * value);
  }
  return [...scores];
}

function timesSimilarity(vectors: SparseVector[], termCount: number, x: Float64Array): Float64Array {
  const perTerm = new Float64Array(termCount);
  for (const [index, { terms, weights }] of vectors.entries()) {
    const value = x[index] ?? 0;
    for (let i = 0; i < terms.length; i += 1) perTerm[terms[i] ?? 0] = (perTerm[terms[i] ?? 0] ?? 0) + value * (weights[i] ?? 0);
  }
  return Float64Array.from(vectors, ({ terms, weights }, index) => {
    let sum = 0;
    for (let i = 0; i < terms.length; i += 1) sum += (perTerm[terms[i] ?? 0] ?? 0) * (weights[i] ?? 0);
    // Without its similarity to itself: with it, a sentence unlike all others would get the average score.
    return Math.max(0, sum - (terms.length === 0 ? 0 : (x[index] ?? 0)));
  });
}

/** A unit vector over terms, as parallel arrays with rising term numbers. */
interface SparseVector {
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
  const language = languageOf(sentences.join(' ')) ?? 'en';
  const numberOf = new Map<string, number>();
  const counts = words.map((list) => countTerms(list, language, numberOf));
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

function countTerms(words: string[], language: string, numberOf: Map<string, number>): Map<number, number> {
  const stopWords = stopWordsOf(language);
  const counts = new Map<number, number>();
  for (const word of words) {
    if (stopWords.has(word)) continue;
    const stem = stemOf(word, language);
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
