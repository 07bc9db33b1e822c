import { dan, deu, eng, fra, ita, nld, por, spa, swe } from 'stopword';

/** Soft hyphens, and spaces and joiners without a width, which are invisible within a word. */
const unseen = /[\u00ad\u200b\u2060]/g;
const combiningMarks = /[\u0300-\u036f]/g;
// Scripts without spaces between words: pairs of characters approximate words.
const unspacedRun =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu;
const word = /\p{N}+(?:[.,]\p{N}+)*|[\p{L}\p{M}\p{N}]+/gu;
const possessive = /['’](?:s|S)?(?!\p{L})/gu;

/**
 * The words of a text in order: NFKD without accents, lower case, `1,200` as `1200`. Runs of an unspaced script become overlapping
 * pairs of characters.
 */
export function wordsOf(text: string): string[] {
  const plain = text.replace(unseen, '').normalize('NFKD').replace(combiningMarks, '').toLowerCase().replace(possessive, ' ');
  const words: string[] = [];
  const spaced = plain.replace(unspacedRun, (run) => {
    // A run may be longer than the arguments that a call takes.
    for (const pair of pairs(run)) words.push(pair);
    return ' ';
  });
  for (const [found] of spaced.matchAll(word)) words.push(/^\p{N}/u.test(found) ? found.replaceAll(',', '') : found);
  return words;
}

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

const sampleWords = 5000;

/** Missing from the package's English list: function words, and the remains of contractions. */
const moreEnglish = `above again against although always among aren around away below besides cannot couldn didn doesn don down
during either else ever every few further hadn hasn haven however i'll isn its itself just ll may mine mightn mustn myself neither
nor off once onto ours ourselves own per perhaps quite rather re s shan she shouldn so t themselves though thus together toward
towards unless until upon us ve via wasn weren when whether whom whose why within without won wouldn yet yourself yours yourselves
he him his`.split(/\s+/);

const english = listOf([...eng, ...moreEnglish]);
const languages = [english, ...[deu, fra, spa, ita, por, nld, swe, dan].map(listOf)];

/** English stop words, in the form of `wordsOf`. */
export const englishStopWords: ReadonlySet<string> = english;

/** The stop words of the language with the most matches in the text; English if there are none. */
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
