import { readFileSync } from 'node:fs';
import type { QuotedPassage, SaidSentence } from '../../domain/answers/prove-sentence.ts';
import { fiveLanguages } from '../../tools/bench/collections/five-languages.ts';
import { documents } from './worded-questions.ts';

/** A sentence as a model would say it, and what was done to it. */
export interface Said {
  kind: string;
  sentence: SaidSentence;
}

/** Numbers from 0 to 1, the same in every run. */
export type Random = () => number;

/** Mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One of a list. */
export function pick<T>(list: readonly T[], random: Random): T {
  const item = list[Math.floor(random() * list.length)];
  if (item === undefined) throw new Error('The list is empty.');
  return item;
}

/** A passage, and the sentences of its text. */
export interface Source {
  id: string;
  passage: QuotedPassage;
  sentences: string[];
}

const perPassage = 3;

/** Passages in 18 languages: of the samples, of the small texts of the bench, and of the questions by words. */
export function readSources(): Source[] {
  const csv = readFileSync('examples/samples/seed-inventory.csv', 'utf8').trim().split('\n');
  const texts = [...fiveLanguages.documents.map(({ text }) => text), ...documents, ...csv];
  const groups = Array.from({ length: Math.ceil(texts.length / perPassage) }, (_, index) =>
    texts.slice(index * perPassage, (index + 1) * perPassage),
  );
  return groups.map((group, index) => {
    const text = group.join('\n\n');
    const sentences = group.flatMap((part) => part.split(/(?<=[.!?] )|(?<=。)/u)).map((part) => part.trim());
    return { id: `p${index}`, passage: { text, start: 1_000 * index, recognized: false, labels: [] }, sentences: sentences.filter(isLong) };
  });
}

function isLong(sentence: string): boolean {
  return sentence.length >= (isUnspaced(sentence) ? 15 : 40);
}

export function isUnspaced(text: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}]/u.test(text);
}

/** The words of a sentence; of a script without spaces, pieces of three characters. */
export function partsOf(sentence: string): string[] {
  return isUnspaced(sentence) ? (sentence.match(/.{1,3}/gu) ?? []) : sentence.split(' ');
}

export function joinParts(parts: string[], like: string): string {
  return parts.join(isUnspaced(like) ? '' : ' ');
}

const confusable: Record<string, string> = {
  e: 'c',
  l: 'i',
  i: 'l',
  n: 'ri',
  m: 'rn',
  c: 'e',
  a: 'o',
  o: 'a',
  u: 'ii',
  h: 'b',
  t: 'f',
  f: 't',
};

/** A text as text recognition reads it: about one letter in a hundred is another one, no digit. */
export function misread(text: string, random: Random): string {
  return text.replace(/[a-z]/g, (letter) => (random() < 1 / 100 ? (confusable[letter] ?? letter) : letter));
}
