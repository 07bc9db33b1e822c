import { z } from 'zod';
import type { LeafSchema } from '../../contract/field-schema.ts';
import type { DocumentPassage, DocumentUnit } from './document-passages.ts';
import { findWords, readWords, squeeze } from './find-words.ts';
import { readNumbers } from './read-numbers.ts';
import { saysDate } from './says-date.ts';

/** A value that a model has read, with the words that it cites. */
export interface SaidValue {
  value: string | number | boolean;
  passage: string;
  quote: string;
}

/** A value with the units that have it. */
export interface FoundValue {
  value: SaidValue['value'];
  units: DocumentUnit[];
  /** `words`: the units have the value in these words. `form`: they have the number or date in another form. `choice`: no word can prove it. */
  by: 'words' | 'form' | 'choice';
}

/** The most units that a value is found in: words of half a page would support anything. */
export const maxUnits = 3;
/** How long they are together at the most, in UTF-16 units, for the same reason: a text without full stops is one unit, however long it is. */
const maxLength = 4_000;

/**
 * Finds the units of a passage that have the words that a value cites, and the value; undefined if there are none, or the value has not the
 * type of the schema. Returns a text in the words of the document. Whether it is the value that was asked for is for `createNearness`.
 */
export function findValue({ value, quote }: SaidValue, schema: LeafSchema, passage: DocumentPassage | undefined): FoundValue | undefined {
  const units = passage && fits(value, schema) ? citedUnits(quote, passage) : undefined;
  if (!units) return undefined;
  const found = (by: FoundValue['by'], as = value): FoundValue => ({ value: as, units, by });
  const text = units.map((unit) => unit.text).join('\n');
  if (typeof value === 'boolean') return found('choice');
  if (typeof value === 'number') return saysNumber(text, value) ? found('form') : undefined;
  if (schema.type === 'string' && schema.format === 'date') return saysDate(text, value) ? found('form') : undefined;
  const words = squeeze(value, text);
  if (schema.type === 'string' && schema.enum) return found(words === undefined ? 'choice' : 'words');
  return words === undefined ? undefined : found('words', fits(words, schema) ? words : value);
}

/** The units that have a quote word for word, one or neighbours. */
function citedUnits(quote: string, { units }: DocumentPassage): DocumentUnit[] | undefined {
  const wanted = readWords(quote).map(({ word }) => word);
  // A unit that is too long parts the others.
  const wordsOf = ({ text }: DocumentUnit) => (text.length > maxLength ? [{ word: '' }] : readWords(text));
  const words = units.flatMap((unit) => wordsOf(unit).map(({ word }) => ({ word, unit })));
  const at = findWords(
    wanted,
    words.map(({ word }) => word),
  );
  if (at === undefined) return undefined;
  const cited = [...new Set(words.slice(at, at + wanted.length).map(({ unit }) => unit))];
  return cited.length <= maxUnits && sumOf(cited) <= maxLength ? cited : undefined;
}

function sumOf(units: DocumentUnit[]): number {
  return units.reduce((sum, { text }) => sum + text.length, 0);
}

const checks = new WeakMap<LeafSchema, z.ZodType>();

function fits(value: unknown, schema: LeafSchema): boolean {
  const check = checks.get(schema) ?? z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
  checks.set(schema, check);
  return check.safeParse(value).success;
}

/** Whether a text has a number, in any notation. JavaScript must hold it exactly. */
function saysNumber(text: string, value: number): boolean {
  const said = String(value);
  if (!/^-?\d{1,15}(?:\.\d{1,15})?$/.test(said) || said.length > 17) return false;
  return readNumbers(plain(text)).some(({ readings }) => readings.includes(said));
}

/** Digits, minus signs and spaces as numbers are read in them. */
export function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\u2212\u2010-\u2014]/g, '-')
    .replace(/[’‘´`]/g, "'")
    .replace(/\s/g, ' ');
}
