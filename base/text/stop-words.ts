import lists from 'stopword';
import { fold, keepsAccents, lower } from './fold.ts';

/** The lists of the package by the ISO 639-1 code of their language. */
const listOf: Record<string, string[]> = Object.fromEntries(
  `af afr, ar ara, bg bul, bn ben, br bre, ca cat, cs ces, da dan, de deu, el ell, en eng, eo epo, es spa, et est, eu eus, fa fas, fi fin,
  fr fra, ga gle, gl glg, gu guj, ha hau, he heb, hi hin, hr hrv, hu hun, hy hye, id ind, it ita, ja jpn, ko kor, ku kur, la lat, lt lit,
  lv lav, mr mar, ms msa, my mya, nl nld, no nob, pa panGu, pl pol, pt por, ro ron, ru rus, sk slk, sl slv, so som, st sot, sv swe, sw swa,
  th tha, tl tgl, tr tur, uk ukr, ur urd, vi vie, yo yor, zh zho, zu zul`
    .split(/,\s+/)
    .map((pair) => pair.split(' '))
    .map(([language = '', list = '']) => [language, lists[list] ?? []]),
);

/** Missing from the package's English list: function words, and the remains of contractions. */
const moreEnglish = `above again against although always among aren around away below besides cannot couldn didn doesn don down
during either else ever every few further hadn hasn haven however i'll isn its itself just ll may mine mightn mustn myself neither
nor off once onto ours ourselves own per perhaps quite rather re s shan she shouldn so t themselves though thus together toward
towards unless until upon us ve via wasn weren when whether whom whose why within without won wouldn yet yourself yours yourselves
he him his`;
/** Question words that the package's list lacks, as the list of common words does. */
const moreHindi = 'कहाँ कहां कब क्या क्यों कैसे कैसा कैसी कितने कितनी किसने किसको';
/** Question words that the package's list lacks, and particles that stand behind names in Latin letters and numbers. */
const moreKorean = '뭐 뭘 며칠 어디서 은 는 도 만';

const more: Record<string, string> = { en: moreEnglish, hi: moreHindi, ko: moreKorean };
const sets = new Map<string, ReadonlySet<string>>();
const none: ReadonlySet<string> = new Set();
const part = /[\p{L}\p{M}\p{N}]+/gu;

/** The stop words of a language (ISO 639-1) in the form of `lower`, also folded where the language folds accents; none of a language without a list. */
export function stopWordsOf(language: string | undefined): ReadonlySet<string> {
  if (language === undefined || !(language in listOf)) return none;
  const before = sets.get(language);
  if (before) return before;
  const words = [...(listOf[language] ?? []), more[language] ?? ''].flatMap((word) => lower(word).match(part) ?? []);
  const set = new Set(keepsAccents(language) ? words : words.flatMap((word) => [word, fold(word)]));
  sets.set(language, set);
  return set;
}
