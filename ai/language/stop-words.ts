import { dan, deu, eng, fra, ita, nld, por, spa, swe } from 'stopword';
import { wordsOf } from './words.ts';

const sampleWords = 5000;

/** What the English list of the package leaves out: function words, and what is left of contractions. */
const moreEnglish = `above again against although always among aren around away below besides cannot couldn didn doesn don down
during either else ever every few further hadn hasn haven however i'll isn its itself just ll may mine mightn mustn myself neither
nor off once onto ours ourselves own per perhaps quite rather re s shan she shouldn so t themselves though thus together toward
towards unless until upon us ve via wasn weren when whether whom whose why within without won wouldn yet yourself yours yourselves
he him his`.split(/\s+/);

const english = listOf([...eng, ...moreEnglish]);
const languages = [english, ...[deu, fra, spa, ita, por, nld, swe, dan].map(listOf)];

/** English stop words, in the form of `wordsOf`. */
export const englishStopWords: ReadonlySet<string> = english;

/** The stop words of the language that most of the words belong to; English when none does. */
export function stopWordsOf(words: string[]): ReadonlySet<string> {
  const sample = words.slice(0, sampleWords);
  let best = english;
  let bestHits = 0;
  for (const language of languages) {
    const hits = sample.reduce((sum, word) => sum + (language.has(word) ? 1 : 0), 0);
    if (hits > bestHits) [best, bestHits] = [language, hits];
  }
  return best;
}

function listOf(words: string[]): Set<string> {
  return new Set(words.flatMap((word) => wordsOf(word)));
}
