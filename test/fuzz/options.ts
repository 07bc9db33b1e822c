import { parseArgs } from 'node:util';

/** Who sends the requests: each caller sees another side of the permissions. */
const callerNames = ['owner', 'member', 'admin', 'anonymous'] as const;
export type CallerName = (typeof callerNames)[number];

/** What the command line asks for. */
export interface FuzzOptions {
  callers: CallerName[];
  /** How many generated requests each operation gets in each phase at the most. */
  examples: number;
  /** Makes the same requests again; a new one for each run when undefined. */
  seed: string | undefined;
  help: boolean;
}

/** The command line is not understood. */
export class UsageError extends Error {}

export const help = `Usage: npm run test:fuzz -- [--examples N] [--as CALLER]… [--seed N]

Starts a service of its own, and lets Schemathesis send it what its OpenAPI
document allows and what it forbids, as each caller in turn. Needs Python 3.11
or newer; Schemathesis is installed into .schemathesis/ at the first run.

  --examples N   requests for each operation and phase at the most; 50 if absent
  --as CALLER    only this caller, one of ${callerNames.join(', ')};
                 may be given several times
  --seed N       the seed of an earlier run, to get the same requests
  --help         print this

Exits with 1 if anything is found, with 2 if the command line is not understood.
`;

/** Reads the arguments of the command line. Throws {@link UsageError}. */
export function parseOptions(args: string[]): FuzzOptions {
  const { as: asked = [], examples = '50', seed, help = false } = parse(args);
  const unknown = asked.filter((name) => !callerNames.some((known) => known === name));
  if (unknown.length > 0) throw new UsageError(`There is no caller ${unknown.join(', ')}. There are: ${callerNames.join(', ')}`);
  return { callers: callerNames.filter((name) => asked.length === 0 || asked.includes(name)), examples: Number(examples), seed, help };
}

function parse(args: string[]) {
  try {
    const options = {
      as: { type: 'string', multiple: true },
      examples: { type: 'string' },
      seed: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    } as const;
    return parseArgs({ args, options }).values;
  } catch (error) {
    // The rest of the message speaks of the shell.
    throw new UsageError((error as Error).message.split('. ', 1)[0]);
  }
}
