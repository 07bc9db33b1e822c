import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { z } from 'zod';
import { isFromYearOne } from '../contract/fields.ts';
import { reason } from '../contract/names.ts';
import type { OpsContext, OpsTools } from './context.ts';

interface Described {
  /** The name and its arguments, as the usage text shows them: `grant-admin EMAIL`. */
  usage: string;
  /** A description in one line. */
  summary: string;
  /** The flags that it takes, as `parseArgs` wants them. */
  flags?: ParseArgsOptionsConfig;
}

/** One command of `npm run ops`, which works on a database that runs. */
export interface Command extends Described {
  /** Throws {@link UsageError} for invalid arguments, OpsError if it fails for a known reason. */
  run(args: string[], context: OpsContext): Promise<void>;
}

/** A command that also works while nothing runs: it opens the database itself, or needs none. */
export interface CommandAtRest extends Described {
  /** Throws as {@link Command.run} does. */
  runAtRest(args: string[], tools: OpsTools): Promise<void>;
}

export type AnyCommand = Command | CommandAtRest;

/** The arguments are not those of the command; its usage is printed with the message. */
export class UsageError extends Error {}

/**
 * Throws UsageError if npm has kept a flag of the command for itself, as it does unless `--` stands before the flags: without that flag the
 * command might do what nobody asked for.
 */
export function assertPassedOn({ flags = {} }: AnyCommand, args: string[], flagsOfNpm: string[]): void {
  const isPassedOn = (name: string) => args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  const kept = Object.keys(flags).filter((name) => flagsOfNpm.includes(name) && !isPassedOn(name));
  if (kept.length === 0) return;
  throw new UsageError(`npm took ${kept.map((name) => `--${name}`).join(' and ')} for itself: put \`--\` before the flags.`);
}

/** The flags of a command by their names. Throws UsageError for an unknown flag and for any other argument. */
export function parseFlags<T extends ParseArgsOptionsConfig>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, strict: true }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The one directory that a command takes, and its flags. Throws UsageError for anything else. */
export function parseDirectory<T extends ParseArgsOptionsConfig>(command: string, args: string[], options: T) {
  const { values, directories } = parseWithPositionals(args, options);
  const [directory, ...more] = directories;
  if (!directory || more.length > 0) throw new UsageError(`${command} takes one directory.`);
  return { directory, ...values };
}

function parseWithPositionals<T extends ParseArgsOptionsConfig>(args: string[], options: T) {
  try {
    const { values, positionals } = parseArgs({ args, options, strict: true, allowPositionals: true });
    return { values, directories: positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** A whole number from 1, or undefined if the flag is absent. Throws UsageError for anything else. */
export function parseCount(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new UsageError(`--${name} takes a whole number from 1 on, not ${value}.`);
  return Number(value);
}

/** The text of --reason, as the API takes it; empty if the flag is absent. Throws UsageError for anything else: tenants read it. */
export function parseReason(value = ''): string {
  if (value === '' || reason.safeParse(value).success) return value;
  throw new UsageError('--reason takes one line of at most 300 characters that shows something.');
}

// JavaScript itself would take 8 for a day of 2001, and a time without a zone for one of the machine that the command runs on.
const time = z.union([z.iso.datetime({ offset: true }), z.iso.datetime({ offset: true, precision: -1 }), z.iso.date()]);

/** An ISO 8601 time with its zone, or a day of UTC; undefined if the flag is absent. Throws UsageError for anything else. */
export function parseTime(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!time.safeParse(value).success || !isFromYearOne(value))
    throw new UsageError(`--${name} takes a time such as 2026-11-21T08:00:00Z, not ${value}.`);
  return new Date(value).toISOString();
}

/** The usage text: how the commands are called and what they do. */
export function usageOf(commands: Record<string, AnyCommand>): string {
  return [
    'Usage: npm run ops -- COMMAND [ARGUMENTS]',
    '',
    ...Object.values(commands).flatMap(({ usage, summary }) => [`  ${usage}`, `      ${summary}`]),
    '',
    'They work on DATABASE_URL and TEMPORAL_ADDRESS if these are set, else on what `npm start` runs in DATA_DIR (.data).',
    'If nothing runs there, backup and restore start its Postgres for themselves.',
    'Stored documents are in the bucket that STORAGE_* name, else below DATA_DIR.',
  ].join('\n');
}
