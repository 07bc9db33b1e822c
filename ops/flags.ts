import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { UsageError } from './command.ts';

/** The flags of a command by their names. Throws UsageError for what it does not know, and for anything that is no flag. */
export function parseFlags<T extends ParseArgsOptionsConfig>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, strict: true }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** A whole number from 1 on, or undefined where the flag is absent. Throws UsageError for anything else. */
export function parseCount(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new UsageError(`--${name} takes a whole number from 1 on, not ${value}.`);
  return Number(value);
}

/** A time as ISO 8601, or undefined where the flag is absent. Throws UsageError for what is no time. */
export function parseTime(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) throw new UsageError(`--${name} takes a time such as 2026-11-21T08:00:00Z, not ${value}.`);
  return time.toISOString();
}
