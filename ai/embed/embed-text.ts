import { stemmer } from 'stemmer';
import { wordsOf } from '../language/words.ts';
import { addFeature } from './hash-feature.ts';
import { wordWeight } from './word-weight.ts';

export const localEmbedModel = 'local-hash-256';
export const localDimensions = 256;

const gramLength = 3;
// Together the pieces of a word weigh about as much as the word: misspelt, it still finds itself.
const gramWeight = 1;
const stopWordWeight = 0.25;

/**
 * Embeds a text as a hashed bag of words and of their pieces: 256 dimensions, length 1, the same for the same text everywhere. A
 * text of nothing but stop words is embedded by them; one without any word gets a constant vector, which resembles other texts only
 * by chance.
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

/** What each stem of a text weighs: its word's weight, more for each time it returns, but ever less. */
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
  // Six digits are more than a hash of words knows, and a third of the bytes on the way.
  return Array.from(vector, (value) => Math.round((value / length) * 1e6) / 1e6);
}
