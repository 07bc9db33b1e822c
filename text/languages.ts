import { eld } from 'eld/extrasmall';

/** How much of a text tells its language: further text changes nothing, and takes time. */
const sampleLength = 2_000;
/** A language that is so near to the likeliest one may be meant as well. */
const nearness = 0.9;
const maxCandidates = 4;

/** The language of a text, as its ISO 639-1 code; undefined if too little of it tells. One of 60. */
export function languageOf(text: string): string | undefined {
  return eld.detect(sampleOf(text)).language || undefined;
}

/**
 * The languages that a short text may have, the likeliest first: one if it is certain, else all that come near; English for a text that
 * tells nothing, like a name or an identifier.
 */
export function languagesOf(text: string): string[] {
  const found = eld.detect(sampleOf(text));
  if (!found.language) return ['en'];
  if (found.isReliable()) return [found.language];
  const scores = Object.entries(found.getScores()).sort(([, one], [, other]) => other - one);
  const least = nearness * (scores[0]?.[1] ?? 0);
  return scores
    .filter(([, score]) => score >= least)
    .map(([language]) => language)
    .slice(0, maxCandidates);
}

function sampleOf(text: string): string {
  return text.length > sampleLength ? text.slice(0, sampleLength) : text;
}
