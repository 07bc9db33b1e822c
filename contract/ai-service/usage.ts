import { z } from 'zod';
import { count } from './values.ts';

/** With this header a response says what its request had a provider do, also one with an error: {@link writeUsage}. */
export const usageHeader = 'x-provider-usage';

/** Read from text. */
const number = z.coerce.number().pipe(count);

const usage = z.object({
  role: z.enum(['chat', 'embed', 'vision', 'rerank']),
  /** The model as it is configured. */
  model: z.string(),
  /** The calls that the provider took, those included whose tokens it did not report. */
  calls: number,
  unreported: number,
  /** Tokens, as the provider counts them. `input` includes `cached`. */
  input: number,
  cached: number,
  output: number,
});

/** What a provider did for one request to the AI service: all of its calls have one role and model. */
export type ProviderUsage = z.output<typeof usage>;

/** The value of {@link usageHeader}: `none`, or the fields in the form of a query. */
export function writeUsage(used: ProviderUsage | null): string {
  return used
    ? new URLSearchParams(Object.entries(used).map(([name, value]): [string, string] => [name, String(value)])).toString()
    : 'none';
}

/** What a value of {@link usageHeader} says. Null: no provider was called. Undefined: it says nothing. */
export function readUsage(value: string | undefined): ProviderUsage | null | undefined {
  if (value === undefined || value === 'none') return value && null;
  return usage.safeParse(Object.fromEntries(new URLSearchParams(value))).data;
}
