import type { SentenceVectors, SparseVector } from './sentence-vectors.ts';

const damping = 0.85;
const rounds = 30;

/**
 * Ranks sentences by LexRank without a threshold: a sentence counts as much as it resembles others that count. The similarity
 * matrix is never built; multiplying by it is one pass over all words, so time grows with the text and not with its square.
 * Returns scores with a mean of about 1.
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
    // What a sentence has in common with itself would give the loneliest one the score of the average.
    return Math.max(0, sum - (terms.length === 0 ? 0 : (x[index] ?? 0)));
  });
}
