import { dan, deu, eng, fra, ita, nld, por, spa, swe } from 'stopword';

const lists: Record<string, ReadonlySet<string>> = Object.fromEntries(
  Object.entries({ en: eng, de: deu, fr: fra, es: spa, it: ita, pt: por, nl: nld, sv: swe, da: dan }).map(([name, words]) => [
    name,
    new Set(words),
  ]),
);
const all = new Set(Object.values(lists).flatMap((list) => [...list]));

/** The words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? [];
}

/** Whether a word is a stop word in one of nine languages. */
export function isStopWord(word: string): boolean {
  return all.has(word.toLowerCase());
}

const minHits = 2;

/** The languages with the most stop words in a text, if there are at least two; several if they share them. */
export function languagesOf(text: string): string[] {
  const words = wordsOf(text);
  const hits = Object.entries(lists).map(([name, list]) => ({ name, count: words.filter((word) => list.has(word)).length }));
  const most = Math.max(minHits, ...hits.map(({ count }) => count));
  return hits.filter(({ count }) => count === most).map(({ name }) => name);
}
