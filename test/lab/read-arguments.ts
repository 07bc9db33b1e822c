import { type ParseArgsConfig, parseArgs } from 'node:util';

interface Script<Options> {
  /** `npm run drill`. */
  command: string;
  usage: string;
  options: Options;
  /** What may be named, and what one of them is called. */
  names: string[];
  kind: string;
}

/**
 * The names and options that a script is started with. Ends the process with 0 if only the usage is asked for, and with 2 if the
 * arguments are not understood.
 */
export function readArguments<const Options extends NonNullable<ParseArgsConfig['options']>>(script: Script<Options>) {
  const { command, usage, options, names: known, kind } = script;
  if (process.argv.slice(2).includes('--help')) {
    process.stdout.write(usage);
    process.exit(0);
  }
  try {
    const { values, positionals: names } = parseArgs({ options, allowPositionals: true as const });
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length > 0) throw new Error(`There is no ${kind} ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
    return { names, values };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\nSee ${command} -- --help\n`);
    process.exit(2);
  }
}

/** The value of an option that has to be a number above 0; undefined if it is not given. Ends the process with 2 if it is none. */
export function readNumber(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (number > 0 && Number.isFinite(number)) return number;
  process.stderr.write(`--${option} has to be a number above 0.\n`);
  return process.exit(2);
}
