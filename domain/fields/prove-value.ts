import { z } from 'zod';
import type { LeafSchema } from '../../contract/field-schema.ts';
import { findQuote } from '../answers/find-quote.ts';
import { foldText } from '../answers/fold-text.ts';
import { plainText } from '../answers/plain-text.ts';
import { findUnsaidNumber } from '../answers/prove-numbers.ts';
import { type ProvenCitation, proveCitation, type QuotedPassage } from '../answers/prove-sentence.ts';
import { readDates } from '../answers/read-dates.ts';
import { countCharacters } from '../characters.ts';

/** A value that a model has read, with the quote that it cites. */
export interface SaidValue {
  value: string | number | boolean;
  passage: string;
  quote: string;
}

/** A value that its quote supports. */
export interface ProvenValue {
  value: SaidValue['value'];
  citation: ProvenCitation;
  /** `words`: the quote has the value in these words. `form`: it has the number or date in another form. `choice`: no word can prove it. */
  by: 'words' | 'form' | 'choice';
}

/** A quote of half a page would support anything. */
const maxQuoteLength = 400;

/**
 * Checks a value without a model: the passage has its quote, the quote has the value, and the value has the type of the schema. Returns a
 * text in the words of the document; undefined if a check fails. Does not check whether it is the value that was asked for, and not another
 * one of the same quote.
 */
export function proveValue(
  { value, passage, quote }: SaidValue,
  schema: LeafSchema,
  source: QuotedPassage | undefined,
): ProvenValue | undefined {
  if (countCharacters(quote) > maxQuoteLength || !fits(value, schema)) return undefined;
  const proof = proveCitation({ passage, quote }, source);
  if (typeof proof === 'string') return undefined;
  const { citation } = proof;
  const proven = (by: ProvenValue['by'], as = value): ProvenValue => ({ value: as, citation, by });
  if (typeof value === 'boolean') return proven('choice');
  if (typeof value === 'number') return saysNumber(citation.quote, decimalOf(value)) ? proven('form') : undefined;
  if (schema.type === 'string' && schema.format === 'date') return saysNumber(citation.quote, value) ? proven('form') : undefined;
  const words = wordsOf(citation.quote, value, source?.recognized ?? false);
  if (schema.type === 'string' && schema.enum) return proven(words === undefined ? 'choice' : 'words');
  return words !== undefined && fits(words, schema) ? proven('words', words) : undefined;
}

const checks = new WeakMap<LeafSchema, z.ZodType>();

function fits(value: unknown, schema: LeafSchema): boolean {
  const check = checks.get(schema) ?? z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
  checks.set(schema, check);
  return check.safeParse(value).success && (schema.type !== 'string' || !schema.format || readDates(String(value)).length === 1);
}

/** The part of a quote that equals a text, without line breaks. */
function wordsOf(quote: string, value: string, recognized: boolean): string | undefined {
  const found = findQuote(value, { ...foldText(quote), text: quote }, { recognized });
  return found && quote.slice(found.start, found.end).replace(/\s+/g, ' ').trim();
}

/** Whether a quote has a number or date, in any notation. */
function saysNumber(quote: string, value: string | undefined): boolean {
  return value !== undefined && findUnsaidNumber(plainText(value), plainText(quote), [plainText(quote)]) === undefined;
}

/** A number as people write it; undefined if JavaScript does not hold it exactly. */
function decimalOf(value: number): string | undefined {
  const text = String(value);
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) && text.length <= 17 ? text : undefined;
}
