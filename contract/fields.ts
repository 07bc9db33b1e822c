import { z } from 'zod';
import { countCharacters, isStorable } from './characters.ts';

const controlCharacters = /[\p{Cc}\u2028\u2029]/u;
const controlCharactersExceptLines = /[^\P{Cc}\t\n\r]/u;

interface TextBounds {
  min?: number;
  max: number;
}

/** Any text of bounded length, even if Postgres cannot store it: for a field that is checked but never stored. */
export function anyText({ max }: { max: number }) {
  return z
    .string()
    .refine((value) => value.length <= max * 2 && countCharacters(value) <= max, {
      error: `must have at most ${max} characters`,
      abort: true,
    })
    .meta({ maxLength: max });
}

/** Text of bounded length. Refuses what Postgres cannot store: NUL and lone surrogates. */
export function text({ min = 0, max }: TextBounds) {
  return anyText({ max })
    .refine((value) => countCharacters(value) >= min, { error: `must have at least ${min} character${min === 1 ? '' : 's'}`, abort: true })
    .refine(isStorable, {
      error: 'must be well-formed Unicode without NUL',
      params: { reason: 'control_characters' },
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max, pattern: '^[^\\u0000]*$' });
}

/** {@link singleLine} for the OpenAPI document. */
export const linePattern = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';

/** Text on one line: refuses control characters, with `params.reason`. */
export function singleLine(bounds: TextBounds) {
  return text(bounds)
    .refine((value) => !controlCharacters.test(value), {
      error: 'must be a single line without control characters',
      params: { reason: 'control_characters' },
    })
    .meta({ pattern: linePattern });
}

/** Text of several lines: refuses control characters except tab, LF and CR. */
export function multiLine(bounds: TextBounds) {
  return text(bounds)
    .refine((value) => !controlCharactersExceptLines.test(value), {
      error: 'must not contain control characters other than tab and line ends',
      params: { reason: 'control_characters' },
    })
    .meta({ pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$' });
}

/** A schema with an example, for the OpenAPI document. */
export function withExample<T extends z.ZodType>(schema: T, example: unknown): T {
  return schema.meta({ examples: [example] });
}

export const exampleId = '0198d2c4-7e2a-7b61-9d0f-3f6f2d1b9a10';
export const exampleTime = '2026-11-21T12:00:00.000Z';

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

export const id = withExample(z.string().regex(idPattern, 'must be an id'), exampleId);

export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256: 64 digits of hex, in lower case')
  .meta({ examples: ['2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'] });

/** A name of a row that a client gives. A malformed one names no row, so it is let through as one that no row has, for the same checks. */
function givenName(pattern: RegExp) {
  return z
    .string()
    .overwrite((value) => (pattern.test(value) ? value : '-'))
    .meta({ pattern: pattern.source, examples: [exampleId] });
}

/** An id that a client gives. */
export const givenId = givenName(idPattern);

/** The rule for email addresses everywhere: the form of the HTML standard, so with an international domain as A-labels (`xn--…`). */
export const emailPattern = z.regexes.html5Email;

/** An email address that mails are sent to. */
export const email = withExample(z.email({ pattern: emailPattern, error: 'must be an email address' }).max(254), 'ada@example.com');

/** What a workspace or an API key may use in a month. */
export const creditBudget = z
  .int()
  .min(0)
  .max(1_000_000_000)
  .nullable()
  .describe('How many AI credits it may use in a calendar month (UTC), whatever the plan allows; null for no budget of its own.')
  .meta({ examples: [500] });

/** What the providers of a workspace may cost in a month. */
export const costBudgetMicros = z
  .int()
  .min(0)
  .max(1_000_000_000_000_000)
  .nullable()
  .describe(
    'What the calls of providers may cost in a calendar month (UTC), by the known prices, in millionths of the currency of `organizations.costs`; null for no such budget. It needs a deployment with prices.',
  )
  .meta({ examples: [20_000_000] });

/** The response of a deletion. */
export const deleted = z.object({ id }).meta({ id: 'Deleted' });

/** The body of an operation that needs none: absent, or an object. */
export const emptyBody = z.object({}).optional().meta({ id: 'EmptyBody', description: 'Nothing is needed; fields are ignored.' });

/** Whether a time is in a year that Postgres has, in UTC: there is no year 0. */
export function isFromYearOne(value: string): boolean {
  return new Date(value).getUTCFullYear() > 0;
}

export const dateTime = withExample(z.iso.datetime({ abort: true }).refine(isFromYearOne, 'must be in the year 1 or later'), exampleTime);

/** Keeps each value of a list once, for `overwrite`. */
export function distinct<T>(given: T[]): T[] {
  return [...new Set(given)];
}

export const slug = z
  .string()
  .min(2)
  .max(48)
  .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, 'must be lower-case letters, digits and inner hyphens')
  .meta({ examples: ['field-notes'] });

/** What an audit entry is about, in a query: the id of a user, session, document and so on, or the key of a flag. */
export const auditTarget = givenName(/^[A-Za-z0-9._-]{1,64}$/);

export const flagKey = z
  .string()
  .min(2)
  .max(64)
  .regex(/^[a-z0-9][a-z0-9._-]*$/, 'must be lower-case letters, digits, dots, underscores and hyphens')
  .meta({ examples: ['search.rerank'] });

/** The kinds of jobs that work on a document. */
export const documentJobKinds = ['document.extract', 'document.summarize', 'document.index'] as const;
export type DocumentJobKind = (typeof documentJobKinds)[number];

/** The kinds of jobs that a workspace may queue for each upload. The last one only where `EXTRA_JOB_KINDS` names it. */
export const automaticJobKinds = [...documentJobKinds, 'document.process'] as const;
export type AutomaticJobKind = (typeof automaticJobKinds)[number];

export const byteCount = z.int().min(0);
export const count = z.int().min(0);

/** A position in a text, in code points from 0. */
export const position = count.meta({ examples: [1200] });
/** The number of a page, from 1. */
export const pageNumber = withExample(z.int().min(1), 2);

/** An integer in a query string; over `/rpc` it may be a number. */
export function queryInteger(bounds: { min: number; max?: number; defaultValue: number }) {
  const { min, max = Number.MAX_SAFE_INTEGER, defaultValue } = bounds;
  return integerInQuery(bounds)
    .default(defaultValue)
    .meta({ override: { type: 'integer', minimum: min, maximum: max, default: defaultValue } });
}

/** The same, which may be absent. */
export function optionalQueryInteger({ min, max }: { min: number; max: number }) {
  return integerInQuery({ min, max })
    .optional()
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });
}

function integerInQuery({ min, max }: { min: number; max?: number }) {
  const whole = z
    .int()
    .min(min)
    .max(max ?? Number.MAX_SAFE_INTEGER);
  const fromText = z
    .string()
    .regex(/^(0|[1-9]\d{0,15})$/)
    .transform(Number)
    .pipe(whole);
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  return z.union([whole, fromText], { error: `must be a whole number ${range}` });
}

/** `true` or `false` in a query string; over `/rpc` it may be a boolean. */
export function queryBoolean(defaultValue: boolean) {
  return z
    .union([z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')], { error: 'must be true or false' })
    .default(defaultValue)
    .meta({ override: { type: 'boolean', default: defaultValue } });
}

const cursorExample = 'bW5ha2s0LjAxOThkMmM0.q83vEjRWeJCrze8SNFZ4kA';

export const cursor = z
  .string()
  .min(1)
  .max(200)
  .describe('The `nextCursor` of the previous page, unchanged. Any other value is BAD_REQUEST.')
  .meta({ examples: [cursorExample] });

export const nextCursor = z
  .string()
  .nullable()
  .describe('Pass it as `cursor` to read on; null means there is no more.')
  .meta({ examples: [cursorExample] });

export const planName = z.enum(['free', 'pro', 'team']).meta({ id: 'PlanName' });
export type PlanName = z.infer<typeof planName>;

export const planLimits = z
  .object({
    workspaces: count.meta({ examples: [20] }),
    members: count.describe('Members plus pending invitations.').meta({ examples: [25] }),
    aiCredits: count.describe('Per calendar month, UTC.').meta({ examples: [2000] }),
    storageBytes: byteCount.describe('Per workspace.').meta({ examples: [5_000_000_000] }),
  })
  .meta({ id: 'PlanLimits' });
/** The limits of a plan: counts, credits per calendar month (UTC), bytes per workspace. */
export type PlanLimits = z.infer<typeof planLimits>;

/** What an operator has given an organization in place of what it pays for. */
export const planOverride = z
  .object({
    plan: planName.nullable().describe('Null for the plan that it pays for.'),
    limits: planLimits.partial().meta({ id: 'OverriddenLimits', examples: [{ aiCredits: 5000 }] }),
    until: dateTime,
    reason: z.string().meta({ examples: ['A trial of the whole library.'] }),
  })
  .meta({ id: 'PlanOverride', description: 'What an operator has given the organization by hand, and until when.' });

export const subscriptionStatus = z
  .enum(['active', 'canceled', 'incomplete', 'incomplete_expired', 'past_due', 'paused', 'trialing', 'unpaid'])
  .meta({ id: 'SubscriptionStatus' });
export type SubscriptionStatus = z.infer<typeof subscriptionStatus>;
