import { languageOf } from '../../base/text/languages.ts';
import { contentStemsOf } from '../../base/text/words.ts';
import type { LeafSchema } from '../../contract/field-schema.ts';
import type { DocumentUnit } from './document-passages.ts';
import { type FoundValue, plain } from './find-value.ts';
import { readNumbers } from './read-numbers.ts';
import { hasDate } from './says-date.ts';

/** How much a word of the name of a field tells, beside one of its description. */
const nameWeight = 2;

/**
 * Whether another value of the same kind stands nearer to the name of a field: in a unit with more words of its name and description, or in
 * the same unit, on the side of its name. Then the value may be a subtotal where the total is asked for.
 */
export function isNearerElsewhere(found: FoundValue, name: string, schema: LeafSchema, units: DocumentUnit[]): boolean {
  const words = wordsOfField(name, schema);
  const own = found.units.map(({ readable }) => readable).join(' ');
  const least = Math.max(scoreOf(new Set(contentStemsOf(own, 'en')), words), nameWeight - 1);
  const hasKind = kindOf(found.value, schema);
  const isNearer = (unit: DocumentUnit) => !found.units.includes(unit) && scoreOf(stemsOf(unit), words) > least && hasKind(unit);
  return units.some(isNearer) || standsApart(own, found, words);
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

const stemsOf = once(({ readable }) => new Set(contentStemsOf(readable, 'en')));
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
function kindOf(value: FoundValue['value'], schema: LeafSchema): (unit: DocumentUnit) => boolean {
  if (typeof value === 'number') return hasNumber;
  if (schema.type === 'string' && schema.format === 'date') return hasAnyDate;
  if (typeof value === 'boolean') return () => false;
  return ({ readable }) => /[:：]\s*\S/.test(readable);
}

/** Whether in its own unit another number stands nearer to the name of the field. */
function standsApart(text: string, { value }: FoundValue, { name }: FieldWords): boolean {
  if (typeof value !== 'number') return false;
  const line = plain(text);
  const numbers = readNumbers(line);
  const names = [...line.matchAll(/\p{L}[\p{L}\p{M}]*/gu)].filter(([word]) => contentStemsOf(word, 'en').some((stem) => name.has(stem)));
  const distances = numbers.map(({ start, end }) =>
    Math.min(...names.map(({ 0: word, index }) => gap(index, index + word.length, start, end))),
  );
  const nearest = Math.min(...distances);
  const own = distances.filter((_, index) => numbers[index]?.readings.includes(String(value)));
  return names.length > 0 && own.length > 0 && Math.min(...own) > nearest;
}

/** How far a number is from a name. One that stands before its name is a little further. */
function gap(nameStart: number, nameEnd: number, start: number, end: number): number {
  return start >= nameEnd ? start - nameEnd : nameStart - end + 2;
}
