import { parseArgs } from 'node:util';

/** What is done with the deployment. */
export interface Arguments {
  /** Only the last three faults are injected. */
  short: boolean;
  /** How long clients work without any fault instead; undefined if faults are injected. */
  soakMinutes?: number;
}

export const usage = `Usage: npm run test:containers [-- --short | --soak MINUTES]

  --short         injects no fault but the last three, which scale the service
                  and upgrade it
  --soak MINUTES  injects no fault: clients work for so long, and what the
                  containers use is measured`;

/** Reads the arguments of the command. Undefined if they are not understood. */
export function readArguments(args: string[]): Arguments | undefined {
  try {
    const { values } = parseArgs({ args, options: { short: { type: 'boolean' }, soak: { type: 'string' } } });
    if (values.soak === undefined) return { short: values.short ?? false };
    const isUsable = /^[1-9]\d{0,3}$/.test(values.soak) && !values.short;
    return isUsable ? { short: false, soakMinutes: Number(values.soak) } : undefined;
  } catch {
    return undefined;
  }
}
