import { parseArgs } from 'node:util';
import { UsageError } from '../fuzz/options.ts';

export { UsageError };

/** What the command line asks for. */
export interface PropertyOptions {
  sequences: number;
  /** Makes the same sequences again; a new one for each run if undefined. */
  seed: number | undefined;
  help: boolean;
}

export const help = `Usage: npm run test:properties -- [--sequences N] [--seed N]

Runs random sequences of what moves money, and compares the ledger, the limits
and what the API says with the rules of test/properties/ after every step.

  --sequences N  how many; 10000 if absent
  --seed N       the seed of an earlier run with as many sequences, to get the
                 same ones
  --help         print this

Exits with 1 if there is a difference, with 2 if the command line is not
understood. A difference is printed with the shortest sequence that shows it.
`;

/** Reads the arguments of the command line. Throws {@link UsageError}. */
export function parseOptions(args: string[]): PropertyOptions {
  const { values } = parse(args);
  return {
    sequences: toNumber('--sequences', values.sequences, 1) ?? 10_000,
    seed: toNumber('--seed', values.seed, 0),
    help: values.help ?? false,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: { sequences: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    // The rest of the message speaks of the shell.
    throw new UsageError((error as Error).message.split('. ', 1)[0]);
  }
}

function toNumber(option: string, value: string | undefined, min: number): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value) || Number(value) < min)
    throw new UsageError(`${option} needs a whole number of at least ${min}, not ${value}`);
  return Number(value);
}
