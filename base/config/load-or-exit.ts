import { ConfigurationError } from './environment.ts';

/** Loads the configuration of a program. If it is invalid, reports its problems without a stack, and ends the process with 1. */
export function loadOrExit<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
