import { z } from 'zod';
import { readVariable } from './secret-files.ts';

/** The variables of a process, as `process.env` holds them. */
export type Environment = Record<string, string | undefined>;

/** The configuration cannot serve: one sentence per problem, each naming its variable. */
export class ConfigurationError extends Error {
  readonly problems: string[];
  constructor(problems: string[]) {
    super(`The configuration has ${problems.length === 1 ? 'a problem' : 'problems'}:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/** A check of several variables together. It runs only if each variable that it reads is valid by itself. */
interface CrossCheck<T extends z.ZodObject> {
  reads: readonly (keyof z.output<T> & string)[];
  /** One sentence per problem, each naming its variable. */
  problems(values: z.output<T>): string[];
}

/** Creates a {@link CrossCheck} that sees only the variables that it names. */
export function crossCheck<T extends z.ZodObject>() {
  return <K extends keyof z.output<T> & string>(
    reads: readonly K[],
    problems: (values: Pick<z.output<T>, K>) => string[],
  ): CrossCheck<T> => ({
    reads,
    problems,
  });
}

/**
 * Parses environment variables with a zod object schema; a blank value counts as absent, as in compose files, and a secret may be kept in
 * a file (`readVariable`). Throws {@link ConfigurationError} with every problem at once: those of single variables, of the cross-checks,
 * and then the `known` ones, which alone are no reason to throw.
 */
export function parseEnvironment<T extends z.ZodObject>(
  schema: T,
  env: Environment,
  checks: readonly CrossCheck<NoInfer<T>>[] = [],
  known: readonly string[] = [],
): z.output<T> {
  const values: Record<string, unknown> = {};
  const invalid = new Set<string>();
  const problems: string[] = [];
  for (const [name, variable] of Object.entries(schema.shape)) {
    const found = parseVariable(env, name, variable);
    if ('problems' in found) {
      invalid.add(name);
      problems.push(...found.problems);
    } else values[name] = found.value;
  }
  for (const check of checks) {
    if (!check.reads.some((name) => invalid.has(name))) problems.push(...check.problems(values as z.output<T>));
  }
  if (problems.length > 0) throw new ConfigurationError([...new Set([...problems, ...known])]);
  return values as z.output<T>;
}

function parseVariable(env: Environment, name: string, type: z.core.$ZodType): { value: unknown } | { problems: string[] } {
  let value: string | undefined;
  try {
    value = readVariable(env, name);
  } catch (error) {
    return { problems: [(error as Error).message] };
  }
  const parsed = z.safeParse(type, value?.trim() ? value : undefined);
  return parsed.success ? { value: parsed.data } : { problems: parsed.error.issues.map(({ message }) => `${name}: ${message}`) };
}

/** `NODE_ENV`: anything except `production` allows what only development may use. */
export function environmentName() {
  return z.enum(['development', 'test', 'production'], 'must be development, test or production').default('development');
}

/** The problems that `load` throws as a ConfigurationError; none if it succeeds. */
export function findProblems(load: () => unknown): string[] {
  try {
    load();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

/** The names of pino. */
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** `LOG_LEVEL`. */
export function logLevel() {
  return z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info');
}

/** A required text. */
export function required() {
  return z.string('is missing');
}

/** A whole number from a variable, within bounds. */
export function integer(defaultValue: number, bounds: IntegerBounds = {}) {
  return wholeNumber(bounds).default(defaultValue);
}

/** A whole number from a variable, within bounds; undefined if the variable is absent. */
export function optionalInteger(bounds: IntegerBounds = {}) {
  return wholeNumber(bounds).optional();
}

interface IntegerBounds {
  min?: number;
  max?: number;
}

function wholeNumber({ min = 0, max = Number.MAX_SAFE_INTEGER }: IntegerBounds) {
  return z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
}

/** Node fires a timer of more than 2,147,483,647 ms at once. This leaves space for an addition, such as a grace period. */
export const maxMilliseconds = 2_147_000_000;

/** A time in milliseconds from a variable, which a timer may wait for. */
export function milliseconds(defaultValue: number, { min = 0, max = maxMilliseconds } = {}) {
  return integer(defaultValue, { min, max });
}

/** Texts separated by commas; those of the default, or none, if the variable is absent. */
export function list(defaultValue = '') {
  return z
    .string()
    .default(defaultValue)
    .transform((value) =>
      value
        .split(',')
        .map((text) => text.trim())
        .filter(Boolean),
    );
}

/** `true` or `false` from a variable. */
export function flag(defaultValue: boolean) {
  return optionalFlag().unwrap().default(defaultValue);
}

/** `true` or `false` from a variable, undefined if it is absent: for a default that depends on another variable. */
export function optionalFlag() {
  return z
    .enum(['true', 'false'], 'must be true or false')
    .transform((value) => value === 'true')
    .optional();
}

/** An absolute http(s) URL from a variable, without a trailing slash. URLs get into logs, so that one may not hold a password. */
export function httpUrl() {
  return z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .refine((value) => !holdsCredentials(value), 'must not hold a name or a password')
    .transform((value) => value.replace(/(?<!\/)\/+$/, ''));
}

/**
 * The address of a Postgres from a variable. It may have no host, but a directory of a socket: `postgres://USER:PASSWORD@/NAME?host=/DIRECTORY`.
 * Says nothing of its value, which may hold a password.
 */
export function postgresUrl() {
  return z
    .string('is missing')
    .refine(isPostgresUrl, 'must be a postgres:// URL; in its password, #, / and ? are written as %23, %2F and %3F');
}

function isPostgresUrl(value: string): boolean {
  // The driver takes credentials without a host, which no other URL has.
  return /^postgres(ql)?:\/\//.test(value) && URL.canParse(value.replace('@/', '@localhost/'));
}

function holdsCredentials(value: string): boolean {
  const url = URL.parse(value);
  return Boolean(url?.username || url?.password);
}
