import { createStemmer } from 'multilingual-stemmer';
import { fold, keepsAccents } from './fold.ts';

/** The languages for which Snowball has a stemmer, by ISO 639-1. */
const stemmed = new Set('ar ca cs da de el en eo es et eu fa fi fr ga hi hu hy id it lt ne nl no pl pt ro ru sr st sv ta tr yi'.split(' '));
/** A longer word is a number or an identifier, or no word. */
const maxLength = 64;
const hasLetter = /\p{L}/u;

interface Known {
  stem: (word: string) => string;
  stems: Map<string, string>;
}

/** A cache for each language: words recur, and stemming takes longer than everything else that is done with a word. */
const known = new Map<string, Known>();
/** In all languages together. */
const maxStems = 50_000;
let cached = 0;

/** The article that Hebrew writes as a part of the word. Arabic's is left to its stemmer. */
const hebrewArticle = /^ה(?=\p{Script=Hebrew}{3})/u;

/** Letters that come and go within an Arabic word, as in its broken plurals: `كتاب` and `كتب`, `عقد` and `عقود`. */
const weakLetters = /(?<=.)[اويىئؤء]|^ا(?=..)/gu;
const minConsonants = 3;

/** English plurals that no ending tells. */
const irregular = new Map(
  Object.entries({
    ...{ children: 'child', people: 'person', men: 'man', women: 'woman', feet: 'foot', teeth: 'tooth', geese: 'goose', mice: 'mouse' },
    ...{ wives: 'wife', lives: 'life', knives: 'knife', leaves: 'leaf', halves: 'half', shelves: 'shelf', wolves: 'wolf', lice: 'louse' },
    ...{ thieves: 'thief', indices: 'index', matrices: 'matrix', vertices: 'vertex', criteria: 'criterion', phenomena: 'phenomenon' },
    ...{ analyses: 'analysis' },
  }),
);

/**
 * The stem of a word of `lower` in a language, folded, by Snowball. A word of Vietnamese is its own stem, with its accents; one of a language
 * without a stemmer, and of none, is only folded.
 */
export function stemOf(word: string, language: string | undefined): string {
  if (keepsAccents(language)) return word;
  if (language === undefined || word.length > maxLength || !hasLetter.test(word)) return fold(word);
  const { stem, stems } = known.get(language) ?? know(language);
  const before = stems.get(word);
  if (before !== undefined) return before;
  // A substring keeps its whole string in memory, so without a copy each cached word would keep the text of its chunk.
  const copy = Buffer.from(word).toString();
  const found = fold(stem(copy));
  if (cached >= maxStems) {
    for (const one of known.values()) one.stems.clear();
    cached = 0;
  }
  cached += 1;
  stems.set(copy, found);
  return found;
}

function know(language: string): Known {
  const one = { stem: createStem(language), stems: new Map<string, string>() };
  known.set(language, one);
  return one;
}

function createStem(language: string): Known['stem'] {
  if (language === 'he') return (word) => word.replace(hebrewArticle, '');
  if (!stemmed.has(language)) return (word) => word;
  const snowball = createStemmer(language as Parameters<typeof createStemmer>[0]);
  if (language === 'ar') return (word) => withoutWeakLetters(fold(snowball(word)));
  return language === 'en' ? (word) => snowball(irregular.get(fold(word)) ?? fold(word)) : snowball;
}

function withoutWeakLetters(stem: string): string {
  const consonants = stem.replace(weakLetters, '');
  return consonants.length >= minConsonants ? consonants : stem;
}
