import { certainLanguageOf, languageOfQuery } from '../../base/text/languages.ts';
import { hasPairedRun } from '../../base/text/scripts.ts';

const localHash = 'local-hash-256';
const localE5 = 'local-multilingual-e5-small';

/**
 * Whether the scores of a model are fused with those by words. The local hash compares words, as those do, but worse: it would spoil the results
 * (docs/quality.md).
 */
export function isFused(model: string): boolean {
  return model !== localHash;
}

/** What two comparisons say of a chunk. */
export interface Scored {
  /** Cosine similarity; null if its vector is of another model than the query's. */
  score: number | null;
  /** BM25; undefined if words were not compared. */
  lexicalScore: number | undefined;
}

/**
 * The similarity below which a chunk without a word of the query is left out: the right paragraphs of 98 of 100 English and German
 * questions of XQuAD have more. Nothing is known of other models' scales, so they have none.
 */
const leastSimilarity: Record<string, number> = { [localE5]: 0.8 };
/** The model has Chinese, Japanese and Korean queries nearer to any passage (XQuAD, CMRC 2018, JSQuAD, KorQuAD, `docs/quality.md`). */
const moreInCjk = 0.04;
/** How much of a chunk tells its language. */
const languageSample = 200;

/**
 * Returns whether meaning and words together may find a chunk. In another language than the query's, right chunks share no words and are
 * less similar.
 */
export function relevanceFilter(model: string, query: string): (chunk: Scored & { text: string }) => boolean {
  const ofModel = leastSimilarity[model];
  if (ofModel === undefined) return () => true;
  const least = ofModel + (hasPairedRun(query) ? moreInCjk : 0);
  const language = languageOfQuery(query);
  const isForeign = (text: string) => language !== undefined && (certainLanguageOf(text.slice(0, languageSample)) ?? language) !== language;
  return ({ score, lexicalScore, text }) => (lexicalScore ?? 0) > 0 || (score !== null && (score >= least || isForeign(text)));
}

/** Minimum of the nearest distance, by which the others are divided: it is 0 of a text that is the query itself. */
const leastDistance = 0.05;
/** How much the best words count beside the distance of the nearest chunk: with more or less, fewer paragraphs of XQuAD are found first. */
const wordsWeight = 0.5;

/**
 * Scores chunks by meaning and words together: by the distance from the query as a multiple of that of the nearest chunk, and by BM25 as a share
 * of the best one's. So neither scale counts, nor how many chunks there are. A chunk without a distance counts as the furthest. Words count as far
 * as they are `known`, which is the share of them that any chunk has.
 */
export function fuseScores(chunks: readonly Scored[], known: number): (chunk: Scored) => number {
  const distances = chunks.flatMap(({ score }) => (score === null ? [] : [1 - score]));
  const nearest = Math.max(leastDistance, Math.min(1, ...distances));
  const furthest = Math.max(nearest, ...distances);
  const best = Math.max(...chunks.map(({ lexicalScore }) => lexicalScore ?? 0)) || 1;
  return ({ score, lexicalScore = 0 }) => known * wordsWeight * (lexicalScore / best) - (score === null ? furthest : 1 - score) / nearest;
}
