import type { Answer, Passage, Question } from './answer.ts';
import { matchOf, questionTerms, stemsOf } from './match-words.ts';
import { respondsTo } from './question-kind.ts';
import { type Quoted, quotePassage } from './quote-passage.ts';

/** How much a word counts that stands not in the sentence but in its headings, its document's title or the sentence before. */
const contextWeight = 0.4;
/** The share of the question's words, by their weight, that a sentence has to have: by itself, and with what is around it. */
const least = { own: 0.2, all: 0.45 };
/** Of a sentence that is much worse than the best one, nobody wants to know. */
const shareOfBest = 0.6;
const withoutKind = 0.7;
/** How much less a sentence of the last passage counts than one of the first. */
const rankWeight = 0.3;

interface Candidate extends Quoted {
  passage: Passage;
  rank: number;
  own: number[];
  around: number[];
}

/**
 * Answers a question with at most `maxSentences` sentences of the passages, the best first, each quoted: those that have the question's rare
 * words and what its kind asks for. Without any that has enough of them the answer is empty. Deterministic.
 */
export function answerQuestion({ question, passages, maxSentences }: Question): Answer {
  const terms = questionTerms(question);
  const candidates = findCandidates(passages, terms);
  const weights = weighTerms(terms, candidates);
  const kind = respondsTo(question);
  const scored = candidates.flatMap((candidate) => {
    const own = shareOf(candidate.own, weights);
    const all = own + contextWeight * shareOf(around(candidate), weights);
    if (own < least.own || all < least.all) return [];
    const kindFactor = kind && !kind.test(candidate.text) ? withoutKind : 1;
    const rankFactor = 1 - rankWeight * (candidate.rank / passages.length);
    return [{ candidate, score: all * kindFactor * rankFactor * formFactor(candidate.text) }];
  });
  scored.sort((a, b) => b.score - a.score);
  const best = scored[0]?.score ?? 0;
  const sentences = scored
    .filter(({ score }) => score >= best * shareOfBest)
    .slice(0, maxSentences)
    .map(({ candidate: { text, quote, passage } }) => ({ text, citations: [{ passage: passage.id, quote }] }));
  return { sentences, extractive: true, model: null };
}

/** The sentences of all passages, each once: passages that overlap have some in common. */
function findCandidates(passages: Passage[], terms: string[]): Candidate[] {
  const seen = new Set<string>();
  return passages.flatMap((passage, rank) => {
    const names = `${passage.title.replace(/\.\w{2,5}$/, '')} ${passage.heading ?? ''}`;
    return quotePassage(passage.text).flatMap((quoted) => {
      const key = quoted.text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ');
      if (seen.has(key)) return [];
      seen.add(key);
      const stems = stemsOf(quoted.text);
      const others = stemsOf(`${names} ${quoted.heading} ${quoted.before}`);
      return [
        { ...quoted, passage, rank, own: terms.map((term) => matchOf(term, stems)), around: terms.map((term) => matchOf(term, others)) },
      ];
    });
  });
}

/** A word that few sentences have tells more; one that none has, as much as one that a single sentence has. */
function weighTerms(terms: string[], candidates: Candidate[]): number[] {
  return terms.map((_, index) => {
    const having = candidates.reduce((count, { own }) => count + ((own[index] ?? 0) > 0 ? 1 : 0), 0);
    return Math.log(1 + candidates.length / Math.max(having, 1));
  });
}

function around(candidate: Candidate): number[] {
  return candidate.around.map((match, index) => ((candidate.own[index] ?? 0) > 0 ? 0 : match));
}

function shareOf(matches: number[], weights: number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return matches.reduce((sum, match, index) => sum + match * (weights[index] ?? 0), 0) / (total || 1);
}

/** Questions and titles repeat the question's words without responding; long sentences have many words by chance. */
function formFactor(text: string): number {
  if (/[?？]$/.test(text)) return 0.4;
  if (text.length < 30 && !/\p{N}/u.test(text) && !/[.!。！]$/u.test(text)) return 0.6;
  return text.length > 400 ? 0.8 : 1;
}
