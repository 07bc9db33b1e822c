import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isFromYearOne } from '../../contract/fields.ts';

/** An amount of money as text, such as `0.15`, in millionths of the currency: never a float. */
const micros = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be an amount as text, such as "0.15", with at most 6 decimals')
  .transform((text) => {
    const [whole, decimals = ''] = text.split('.');
    return Number(whole) * 1_000_000 + Number(decimals.padEnd(6, '0'));
  });

const price = z.strictObject({
  role: z.enum(['chat', 'embed', 'vision', 'rerank']),
  model: z.string().min(1),
  /** The first day, in UTC, until that of the next price of the model. */
  from: z.iso.date().refine(isFromYearOne, 'must be in the year 1 or later'),
  /** For a million tokens. */
  input: micros,
  cached: micros,
  output: micros,
});

const table = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a code such as USD'),
  prices: z
    .array(price)
    .refine(
      (prices) => new Set(prices.map(({ role, model, from }) => `${role} ${from} ${model}`)).size === prices.length,
      'must have one price for each role, model and day',
    ),
});

/** What providers charge for their models, in millionths of `currency` for a million tokens. */
export type PriceTable = z.output<typeof table>;

/** Reads the table of a file. Throws an error that names the variable and what is wrong. */
export function readPrices(file: string): PriceTable {
  try {
    return table.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`PROVIDER_PRICES: ${file} cannot be used: ${reason}`);
  }
}
