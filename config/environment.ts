import { z } from 'zod';

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

/**
 * Parses environment variables with one zod object schema; an empty value counts as absent, as in compose files.
 * Throws {@link ConfigurationError} naming every problem at once.
 */
export function parseEnvironment<T extends z.ZodType>(schema: T, env: Environment): z.output<T> {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = schema.safeParse(present);
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(parsed.error.issues.map((issue) => `${issue.path.join('.') || 'environment'}: ${issue.message}`));
}

/** A whole number from a variable, within bounds. */
export function integer(defaultValue: number, { min = 0, max = Number.MAX_SAFE_INTEGER } = {}) {
  return z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .default(defaultValue);
}

/** `true` or `false` from a variable. */
export function flag(defaultValue: boolean) {
  return z
    .enum(['true', 'false'], 'must be true or false')
    .transform((value) => value === 'true')
    .default(defaultValue);
}

/** An absolute http(s) URL from a variable, without a trailing slash. */
export function httpUrl() {
  return z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).transform((value) => value.replace(/\/+$/, ''));
}
