import { languageOf } from '../../base/text/languages.ts';
import { contentStemsOf } from '../../base/text/words.ts';
import type { LeafSchema } from '../../contract/field-schema.ts';
import { firstWhere, lastWhere } from '../chunking/binary-search.ts';
import type { DocumentUnit } from './document-passages.ts';
import { type FoundValue, maxUnits, plain } from './find-value.ts';
import { readNumbers } from './read-numbers.ts';
import { hasDate } from './says-date.ts';

/** How much a word of the name of a field tells, beside one of its description. */
const nameWeight = 2;

/** Whether another value of the same kind as one that was found stands nearer to the name of its field. */
type IsNearerElsewhere = (found: FoundValue, name: string, schema: LeafSchema) => boolean;

/** What is read of a document for a field, once for all of its values. */
interface ReadField {
  words: FieldWords;
  nearest: ScoredUnit[];
}

interface ScoredUnit {
  unit: DocumentUnit;
  score: number;
}

/**
 * Returns what judges the values of a document with these units: another one is nearer in a unit with more words of the name and description
 * of the field, or in the same unit, on the side of its name. Then the value may be a subtotal where the total is asked for. Units are found by
 * their words: a table has a hundred thousand, and a list five hundred values.
 */
export function createNearness(units: DocumentUnit[]): IsNearerElsewhere {
  let byStem: Map<string, DocumentUnit[]> | undefined;
  const fields = new Map<LeafSchema, ReadField>();
  function readField(name: string, schema: LeafSchema): ReadField {
    byStem ??= unitsByStem(units);
    const words = wordsOfField(name, schema);
    const field = { words, nearest: findNearest(byStem, words, kindOf(schema)) };
    fields.set(schema, field);
    return field;
  }
  return (found, name, schema) => {
    const { words, nearest } = fields.get(schema) ?? readField(name, schema);
    const own = found.units.map(({ readable }) => readable).join(' ');
    const least = scoreOf(new Set(contentStemsOf(own, 'en')), words);
    return nearest.some(({ unit, score }) => score > least && !found.units.includes(unit)) || standsApart(own, found, words);
  };
}

function unitsByStem(units: DocumentUnit[]): Map<string, DocumentUnit[]> {
  const byStem = new Map<string, DocumentUnit[]>();
  for (const unit of units) {
    for (const stem of new Set(contentStemsOf(unit.readable, 'en'))) {
      const having = byStem.get(stem);
      if (having) having.push(unit);
      else byStem.set(stem, [unit]);
    }
  }
  return byStem;
}

/** The units of a kind with the most words of a field: one more than a value is found in. A single word of a description tells nothing. */
function findNearest(
  byStem: ReadonlyMap<string, DocumentUnit[]>,
  { name, description }: FieldWords,
  hasKind: (unit: DocumentUnit) => boolean,
): ScoredUnit[] {
  const scores = new Map<DocumentUnit, number>();
  const add = (stems: Set<string>, weight: number) => {
    for (const stem of stems) for (const unit of byStem.get(stem) ?? []) scores.set(unit, (scores.get(unit) ?? 0) + weight);
  };
  add(name, nameWeight);
  add(description, 1);
  let nearest: ScoredUnit[] = [];
  for (const [unit, score] of scores) {
    if (score <= (nearest[maxUnits]?.score ?? nameWeight - 1) || !hasKind(unit)) continue;
    nearest = [...nearest, { unit, score }].sort((one, other) => other.score - one.score).slice(0, maxUnits + 1);
  }
  return nearest;
}

/** Reads something of each unit once, however many fields ask for it. */
function once<T>(read: (unit: DocumentUnit) => T): (unit: DocumentUnit) => T {
  const known = new WeakMap<DocumentUnit, T>();
  return (unit) => {
    const found = known.get(unit) ?? read(unit);
    known.set(unit, found);
    return found;
  };
}

const hasNumber = once(({ readable }) => readNumbers(plain(readable)).length > 0);
const hasAnyDate = once(({ readable }) => hasDate(readable));

interface FieldWords {
  name: Set<string>;
  description: Set<string>;
}

/** `dueDate`: due, date. */
function wordsOfField(name: string, { description = '' }: LeafSchema): FieldWords {
  const parted = name.replace(/(?<=\p{Ll})(?=\p{Lu})|[_-]/gu, ' ');
  return {
    name: new Set(contentStemsOf(parted, 'en')),
    description: new Set(contentStemsOf(description, languageOf(description) ?? 'en')),
  };
}

function scoreOf(stems: ReadonlySet<string>, { name, description }: FieldWords): number {
  return nameWeight * stems.intersection(name).size + stems.intersection(description).size;
}

/** Whether a unit has a value of a kind: a number, a date, or a text that follows a label. */
function kindOf(schema: LeafSchema): (unit: DocumentUnit) => boolean {
  if (schema.type === 'number' || schema.type === 'integer') return hasNumber;
  if (schema.type === 'boolean') return () => false;
  if (schema.format === 'date') return hasAnyDate;
  return ({ readable }) => /[:：]\s*\S/.test(readable);
}

/** Whether in its own unit another number stands nearer to the name of the field. */
function standsApart(text: string, { value }: FoundValue, { name }: FieldWords): boolean {
  if (typeof value !== 'number') return false;
  const line = plain(text);
  const numbers = readNumbers(line);
  const names = [...line.matchAll(/\p{L}[\p{L}\p{M}]*/gu)].filter(([word]) => contentStemsOf(word, 'en').some((stem) => name.has(stem)));
  const endOf = ({ 0: word, index }: RegExpExecArray) => index + word.length;
  const distances = numbers.map(({ start, end }) => {
    const beside = [lastWhere(names, (each) => endOf(each) <= start), firstWhere(names, (each) => endOf(each) > start)];
    return Math.min(...beside.flatMap((each) => (each ? [gap(each.index, endOf(each), start, end)] : [])));
  });
  const nearest = Math.min(...distances);
  const own = distances.filter((_, index) => numbers[index]?.readings.includes(String(value)));
  return names.length > 0 && own.length > 0 && Math.min(...own) > nearest;
}

/** How far a number is from a name. One that stands before its name is a little further. */
function gap(nameStart: number, nameEnd: number, start: number, end: number): number {
  return start >= nameEnd ? start - nameEnd : nameStart - end + 2;
}
