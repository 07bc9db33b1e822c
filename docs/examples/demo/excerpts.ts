import { sliceCharacters } from '../../../clients/typescript/index.ts';
import type { SearchResult } from './result.ts';
import { plain } from './screen.ts';

/** What fits on a line beside a score. */
const maxPlaceCharacters = 65;
/** Around words that matched. */
const [openingMark, closingMark] = ['«', '»'];

/** The first sentence of a text, as a search query: at most 1,000 characters. */
export function firstSentence(text: string): string {
  return [...(sentencesOf(text)[0] ?? '')].slice(0, 1000).join('');
}

/** The document with the page of what matched, or the heading that it is under. */
export function placeOf({ documentName, citation, highlights = [] }: SearchResult): string {
  const page = highlights[0]?.page ?? citation?.page ?? null;
  const heading = citation?.headings?.at(-1);
  const place = page === null ? heading : `page ${page}`;
  return [...plain(place === undefined ? documentName : `${documentName}, ${place}`)].slice(0, maxPlaceCharacters).join('');
}

/** The sentence with the most words of the query, which are marked; if none is there, the one that shares the most beginnings of longer ones. */
export function bestSentence({ text, highlights = [] }: SearchResult, query: string): string {
  const marked = mark(text, highlights);
  const marksIn = (sentence: string) => sentence.split(openingMark).length;
  const wordsOf = (words: string) => new Set(words.toLowerCase().match(/(?<![\p{L}\p{N}])[\p{L}\p{N}]{4,5}/gu));
  const shared = (sentence: string) => wordsOf(sentence).intersection(wordsOf(query)).size;
  const worth = (sentence: string) => 1_000 * marksIn(sentence) + shared(sentence);
  return sentencesOf(marked).reduce((best, sentence) => (worth(sentence) > worth(best) ? sentence : best), '') || marked;
}

/** Puts marks around parts of a text, which are in its order. */
function mark(text: string, parts: { start: number; end: number }[]): string {
  const ends = [0, ...parts.map(({ end }) => end)];
  const pieces = parts.map((part, index) => {
    const before = sliceCharacters(text, { start: ends[index] ?? 0, end: part.start });
    return `${before}${openingMark}${sliceCharacters(text, part)}${closingMark}`;
  });
  return pieces.join('') + sliceCharacters(text, { start: ends.at(-1) ?? 0, end: text.length });
}

function sentencesOf(text: string): string[] {
  return [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(plain(text))].map(({ segment }) => segment.trim());
}
