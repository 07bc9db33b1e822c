import { z } from 'zod';
import type { LeafSchema } from '../../contract/field-schema.ts';
import { findQuote } from '../answers/find-quote.ts';
import { foldText } from '../answers/fold-text.ts';
import { plainText } from '../answers/plain-text.ts';
import { findUnsaidNumber } from '../answers/prove-numbers.ts';
import { type ProvenCitation, proveCitation, type QuotedPassage } from '../answers/prove-sentence.ts';
import { readDates } from '../answers/read-dates.ts';
import { countCharacters } from '../characters.ts';

/** A value that a model has read, with what it says it rests on. */
export interface SaidValue {
  value: string | number | boolean;
  passage: string;
  quote: string;
}

/** A value that its quote bears out. */
export interface ProvenValue {
  value: SaidValue['value'];
  citation: ProvenCitation;
  /** `words`: the value is words of the quote. `form`: a number or date of it in another form. `choice`: one that no words prove. */
  by: 'words' | 'form' | 'choice';
}

/** A quote with half a page in it would bear out anything. */
const maxQuoteLength = 400;

/**
 * Proves a value without a model: its quote stands in the passage that it names, it is of the type that the schema asks for, and what it says
 * stands in the quote. A text is returned as the document has it. Undefined if one of these does not hold. Whether it is the value that was
 * asked for, and not another one of the same quote, is not told.
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

/** The part of a quote that is a text, without line breaks. */
function wordsOf(quote: string, value: string, recognized: boolean): string | undefined {
  const found = findQuote(value, { ...foldText(quote), text: quote }, { recognized });
  return found && quote.slice(found.start, found.end).replace(/\s+/g, ' ').trim();
}

/** Whether a quote has a number or date, in one of the ways to write it. */
function saysNumber(quote: string, value: string | undefined): boolean {
  return value !== undefined && findUnsaidNumber(plainText(value), plainText(quote), [plainText(quote)]) === undefined;
}

/** A number as people write it; undefined if JavaScript does not hold it exactly. */
function decimalOf(value: number): string | undefined {
  const text = String(value);
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) && text.length <= 17 ? text : undefined;
}
