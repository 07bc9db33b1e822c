import { countCharacters, endOfCharacters } from '../characters.ts';
import { type Candidate, findCandidates } from './candidates.ts';
import { rankSentences, type SentenceVectors, similarity, vectorize } from './rank-sentences.ts';

const localSummaryModel = 'local-extractive';

const noveltyWeight = 0.6;
const tooSimilar = 0.8;
const fallbackLength = 300;

/** An extractive summary: `sentences` is how many it has, `characters` the length of the text that was summarized. */
export interface Summary {
  summary: string;
  sentences: number;
  model: string;
  characters: number;
}

/**
 * Summarizes a text with at most `maxSentences` of its own sentences, in their order: those that are most similar to the rest of the
 * text, and not to each other. Deterministic; 200,000 characters take about a second.
 */
export function summarizeText(text: string, maxSentences: number): Summary {
  const { candidates, headings } = findCandidates(text);
  const chosen = candidates.length === 0 ? [beginningOf(text.trim())].filter(Boolean) : choose(candidates, headings, maxSentences);
  return { summary: joinSentences(chosen), sentences: chosen.length, model: localSummaryModel, characters: countCharacters(text) };
}

/** The summary of a text without sentences. */
function beginningOf(text: string): string {
  return text.slice(0, endOfCharacters(text, fallbackLength)).toWellFormed();
}

function choose(candidates: Candidate[], headings: string[], maxSentences: number): string[] {
  const vectors = vectorize([...candidates.map(({ text }) => text), headings.join(' ')]);
  const scores = scoreSentences(candidates, vectors);
  const left = new Set(candidates.keys());
  const resemblance = new Float64Array(candidates.length);
  const chosen: number[] = [];
  while (chosen.length < maxSentences && left.size > 0) {
    const best = bestOf(left, scores, resemblance);
    left.delete(best);
    if ((resemblance[best] ?? 0) > tooSimilar) continue;
    chosen.push(best);
    const vector = vectors.vectors[best];
    for (const index of left) {
      const other = vectors.vectors[index];
      if (vector && other) resemblance[index] = Math.max(resemblance[index] ?? 0, similarity(vector, other));
    }
  }
  return chosen.sort((a, b) => a - b).map((index) => candidates[index]?.text ?? '');
}

function bestOf(left: Set<number>, scores: number[], resemblance: Float64Array): number {
  let best = -1;
  let bestValue = Number.NEGATIVE_INFINITY;
  for (const index of left) {
    const value = (scores[index] ?? 0) * (1 - noveltyWeight * (resemblance[index] ?? 0));
    if (value > bestValue) [best, bestValue] = [index, value];
  }
  return best;
}

function scoreSentences(candidates: Candidate[], vectors: SentenceVectors): number[] {
  const headings = vectors.vectors.at(-1);
  const own = { ...vectors, vectors: vectors.vectors.slice(0, -1) };
  return rankSentences(own).map((rank, index) => {
    const candidate = candidates[index];
    const vector = own.vectors[index];
    if (!candidate || !vector || vector.terms.length === 0) return 0;
    const onSubject = headings ? 1 + 0.5 * similarity(headings, vector) : 1;
    return rank * onSubject * lengthFactor(vectors.wordCounts[index] ?? 0) * positionFactor(index, candidates) * formFactor(candidate.text);
  });
}

/** Very short sentences say little, very long ones are lists or data. */
function lengthFactor(words: number): number {
  if (words < 4) return 0.3;
  if (words < 8) return 0.75;
  return words > 45 ? 0.7 : 1;
}

/** The first sentences of a text and of a paragraph usually say what it is about. */
function positionFactor(index: number, candidates: Candidate[]): number {
  const opening = 1 + 0.25 * Math.exp((-8 * index) / candidates.length);
  return candidates[index]?.opensParagraph ? opening * 1.08 : opening;
}

const refersBack =
  /^(?:this|these|those|that|it|he|she|they|such|however|but|and|or|so|therefore|thus|moreover|also|then|yet|for example|in addition)\b/i;

/** Lowers what reads badly alone: fragments, questions, introductions of a list, formulas, sentences that refer to the previous one. */
function formFactor(text: string): number {
  let factor = refersBack.test(text) ? 0.8 : 1;
  if (/[:?]$/.test(text)) factor *= 0.5;
  if (!/[.!?:…。！？][)\]»”’"']*$/u.test(text)) factor *= 0.3;
  if (/^\p{Ll}/u.test(text)) factor *= 0.5;
  const letters = text.match(/[\p{L}\p{M}\s]/gu)?.length ?? 0;
  return letters < text.length * 0.8 ? factor * 0.6 : factor;
}

function joinSentences(sentences: string[]): string {
  let joined = '';
  for (const sentence of sentences) {
    // Items and rows have no full stop; without one they would run into the next sentence.
    const ended = /[\p{L}\p{N})\]%”"']$/u.test(sentence) && !/[.!?…][)\]”"'’]$/u.test(sentence) ? `${sentence}.` : sentence;
    joined += joined === '' || /[。！？」』]$/u.test(joined) ? ended : ` ${ended}`;
  }
  return joined;
}
