import { stemmer } from 'stemmer';
import { dan, deu, eng, fra, ita, nld, por, spa, swe } from 'stopword';
import { joinVowels, partSigns } from '../../text/compose.ts';
import { groups, joinGroups, normalizeNumbers, partsOfMixed, withoutSigns } from './identifiers.ts';

/** A longer word is cut, so that no text makes a large key. */
const maxTermLength = 64;

/**
 * Words and numbers, and the characters that join them to an identifier: `INV-2024-001`, `ada@example.com`, `foo_bar`, `28.31`; `C++` and
 * `C#`.
 */
export const spacedRun =
  /(?<![\p{L}\p{M}\p{N}])[A-Za-z](?:\+\+|#)(?![\p{L}\p{M}\p{N}])|[\p{L}\p{M}\p{N}]+(?:[-_.,:/@+#&][\p{L}\p{M}\p{N}]+)*/gu;
export const joiner = /[-_.,:/@+#&]/;
const part = /[\p{L}\p{M}\p{N}]+/gu;
const joinedWord = /^\p{L}+[-.]\p{L}+$/u;
const isOfLetters = /^[\p{L}\p{M}]+$/u;
const hasDigit = /\d/;
export const possessive = /['’][sS](?![\p{L}\p{N}])/gu;
const ascii = /^[\0-\x7f]*$/;
/** Japanese, Chinese and Korean, which joins particles to words: pairs of characters stand for words. */
export const pairedRun = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}々ー]+/gu;
/** Other scripts without spaces between words, which only a dictionary divides. */
export const unspacedRun = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
const dictionary = new Intl.Segmenter('th', { granularity: 'word' });

/** The words of a run of {@link unspacedRun}, with their indexes. */
export function wordsOf(run: string): Intl.SegmentData[] {
  return [...dictionary.segment(run)].filter(({ isWordLike }) => isWordLike);
}

/** Accents that do not make another letter, by script. Elsewhere they do: й is not и. */
const accents = /(?<=[\p{Script=Latin}\p{Script=Greek}])\p{Mn}+|(?<=е)\u0308|[\u0591-\u05c7\u064b-\u0655\u0670\u0640]/gu;
const letters: Record<string, string> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ı: 'i', ς: 'σ' },
  ...Object.fromEntries(['٠١٢٣٤٥٦٧٨٩', '۰۱۲۳۴۵۶۷۸۹'].flatMap((digits) => [...digits].map((digit, value) => [digit, String(value)]))),
};
const foldedLetter = /[ßæœøđðłþıς٠-٩۰-۹]/g;
/** Letters with a sign, and how they are spelled without it. Only a query is spelled so. */
const spelledOut: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };

/**
 * The terms of a text, for search by words, in no order that matters: stems of words in lower case without accents, numbers, and
 * identifiers both whole and in parts. Repeated terms are repeated.
 */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  eachTerm(text, (term) => terms.push(term));
  return terms;
}

/** Calls `visit` with each of {@link termsOf}, which avoids the garbage of an array for each chunk of a long document. */
export function eachTerm(text: string, visit: (term: string) => void): void {
  divide(fold(text), { singly: true }, visit);
}

/**
 * The distinct terms that a query looks for: those of its text without stop words, unless it has nothing else. A Chinese, Japanese or
 * Korean run gives only its pairs, unless it is a single character.
 */
export function queryTermsOf(query: string): string[] {
  const terms = new Set<string>();
  for (const text of spellingsOf(query)) divide(text, { singly: false }, (term) => terms.add(term));
  return [...terms];
}

/** The words of a query that may be misspelled or a part of a compound, folded. */
export function queryWordsOf(query: string): string[] {
  const words = spellingsOf(query).flatMap((text) => text.replace(pairedRun, ' ').replace(unspacedRun, ' ').match(part) ?? []);
  return [...new Set(words)].filter((word) => isOfLetters.test(word));
}

function spellOut(text: string): string {
  return text.normalize('NFC').replace(/[äöüøå]/gi, (letter) => spelledOut[letter.toLowerCase()] ?? letter);
}

/** The text of a query without stop words, unless it has nothing else, folded: as it is, and with its umlauts spelled out. */
function spellingsOf(query: string): string[] {
  const folded = fold(query);
  const spared = withoutStopWords(folded);
  const text = (whole: string) => (/[\p{L}\p{N}]/u.test(spared) ? withoutStopWords(whole) : whole);
  return [...new Set([text(folded), text(fold(spellOut(query)))])];
}

/** Folds a text to lower case, and to the letters by which words are compared. */
function fold(text: string): string {
  const lower = text.toLowerCase();
  if (ascii.test(lower)) return lower.replace(possessive, ' ');
  const decomposed = partSigns(text)
    .normalize('NFKD')
    .toLowerCase()
    .replace(accents, '')
    .replace(foldedLetter, (letter) => letters[letter] ?? letter);
  return joinVowels(decomposed.normalize('NFC')).replace(possessive, ' ');
}

function divide(folded: string, { singly }: { singly: boolean }, visit: (term: string) => void): void {
  const add = (term: string) => visit(cut(term));
  const addIfAny = (term: string | undefined) => term !== undefined && add(term);
  const spaced = folded
    .replace(pairedRun, (run) => {
      for (const term of pairs(run, singly)) add(term);
      return ' ';
    })
    .replace(unspacedRun, (run) => {
      for (const { segment } of wordsOf(run)) add(segment);
      return ' ';
    });
  for (const run of spaced.match(groups) ?? []) addIfAny(joinGroups(run));
  const normalized = normalizeNumbers(spaced);
  const cells = singly && normalized !== spaced ? cellsOf(spaced) : [];
  for (const run of [...(normalized.match(spacedRun) ?? []), ...cells]) {
    const parts = run.endsWith('+') || run.endsWith('#') ? [run] : run.split(joiner);
    for (const one of parts) {
      add(stem(one));
      if (hasDigit.test(one)) for (const some of partsOfMixed(one)) add(stem(some));
    }
    if (parts.length === 1) continue;
    // `Wi-Fi` is `wifi`, too, and `Node.js` is `nodejs`.
    if (joinedWord.test(run)) add(stem(parts.join('')));
    if (!isIdentifier(run)) continue;
    add(run);
    addIfAny(withoutSigns(run));
  }
}

/** The cells of rows like `sku-7,120,450`, of which some may have been taken for one number with signs of thousands. */
function cellsOf(folded: string): string[] {
  const rows = folded.match(spacedRun)?.filter((run) => /,.*,/.test(run)) ?? [];
  return rows.flatMap((row) => {
    const known = normalizeNumbers(row).split(',');
    return row.split(',').filter((cell) => !known.includes(cell));
  });
}

/** Whether a run is an identifier. Words that only a hyphen or a slash joins are not, since their parts find them as well. */
function isIdentifier(run: string): boolean {
  return /[\p{N}_@.:#+&]/u.test(run);
}

/** The pairs of characters of a run. `singly`: also each character, so that a query of one finds it. */
function pairs(run: string, singly: boolean): string[] {
  const characters = [...run];
  const paired = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return singly || paired.length === 0 ? [...characters, ...paired] : paired;
}

/** The term of a word that is already folded. */
export function cut(word: string): string {
  return word.length > maxTermLength ? word.slice(0, maxTermLength).toWellFormed() : word;
}

/** A cache of stems: words recur, and stemming takes longer than everything else that is done with a word. */
const stems = new Map<string, string>();
const maxStems = 50_000;
const mayBeEnglish = /^[a-z]{3,64}$/;

/** The article that Arabic and Hebrew write as a part of the word. */
const article = /^(?:ال(?=\p{Script=Arabic}{3})|ה(?=\p{Script=Hebrew}{3}))/u;
/** Irregular plurals. */
const singulars: Record<string, string> = {
  ...{
    children: 'child',
    people: 'person',
    men: 'man',
    women: 'woman',
    feet: 'foot',
    teeth: 'tooth',
    geese: 'goose',
    mice: 'mouse',
    lice: 'louse',
  },
  ...{ wives: 'wife', lives: 'life', knives: 'knife', leaves: 'leaf', halves: 'half', shelves: 'shelf', wolves: 'wolf', thieves: 'thief' },
  ...{ indices: 'index', matrices: 'matrix', vertices: 'vertex', criteria: 'criterion', phenomena: 'phenomenon', analyses: 'analysis' },
};

/** The English stem of what may be an English word. Other languages lose little by it, since texts and queries are stemmed alike. */
export function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (!mayBeEnglish.test(word)) return word.replace(article, '');
  // A substring keeps its whole string in memory, so without a copy each cached word would keep the text of its chunk.
  const copy = Buffer.from(word, 'latin1').toString('latin1');
  const found = stemmer(singulars[copy] ?? copy);
  if (stems.size >= maxStems) stems.clear();
  stems.set(copy, found);
  return found;
}

const [english, ...otherLanguages] = [eng, deu, fra, spa, ita, por, nld, swe, dan].map(
  (words) => new Set(words.flatMap((word) => [fold(word), fold(spellOut(word))]).flatMap((word) => word.match(part) ?? [])),
);
/** One stop word alone does not identify a language: `die` is not always German. Keeping a stop word costs less than losing a word. */
const minHits = 2;

/** A letter that is a stop word only of languages that elide: it is a name in `hepatitis B` and `Plan C`, and none in `l'eau`. */
const letterName = /^[b-df-hj-np-tvwxz]$/;

/** Leaves out the stop words of the language that most words of a query indicate, else those of English. */
function withoutStopWords(folded: string): string {
  const words = (folded.match(part) ?? []).filter((word) => !letterName.test(word));
  const hitsOf = (list: Set<string> | undefined) => words.filter((word) => list?.has(word)).length;
  let [list, most] = [english, Math.max(hitsOf(english), minHits - 1)];
  for (const other of otherLanguages) {
    const hits = hitsOf(other);
    if (hits > most) [list, most] = [other, hits];
  }
  const isName = (run: string, at: number) => letterName.test(run) && !/['’]/.test(folded[at + run.length] ?? '');
  return folded.replace(spacedRun, (run, at: number) => (list?.has(run) && !isName(run, at) ? ' ' : run));
}
