import { eld } from 'eld/extrasmall';

/** How much of a text tells its language: further text changes nothing, and takes time. */
const sampleLength = 500;
/** A language that is so near to the likeliest one may be meant as well. */
const nearness = 0.9;
const maxCandidates = 4;
/** A shorter text is a word or two, of which the likeliest language is often not the right one. */
const minCertain = 20;

/** The language of a text, as its ISO 639-1 code; undefined if too little of it tells. One of 60. */
export function languageOf(text: string): string | undefined {
  return eld.detect(sampleOf(text)).language || undefined;
}

/** The language of a text if it is certain, which it never is of a word or two. */
export function certainLanguageOf(text: string): string | undefined {
  const found = eld.detect(sampleOf(text));
  return text.length >= minCertain && found.isReliable() ? found.language : undefined;
}

/** The language of a query if it is certain, also of a short one in another script than Latin. */
export function languageOfQuery(query: string): string | undefined {
  return certainLanguageOf(query) ?? (/\p{Script=Latin}/u.test(query) ? undefined : languageOf(query));
}

/**
 * The languages that a short text may have, the likeliest first: one if it is certain, else all that come near; English for a text that
 * tells nothing, like a name or an identifier.
 */
export function languagesOf(text: string): string[] {
  const certain = certainLanguageOf(text);
  if (certain !== undefined) return [certain];
  const scores = Object.entries(eld.detect(sampleOf(text)).getScores()).sort(([, one], [, other]) => other - one);
  const least = nearness * (scores[0]?.[1] ?? 0);
  const near = scores.filter(([, score]) => score >= least).map(([language]) => language);
  return near.length > 0 ? near.slice(0, maxCandidates) : ['en'];
}

function sampleOf(text: string): string {
  return text.length > sampleLength ? text.slice(0, sampleLength) : text;
}
