import { serviceNames } from '../../../ops/local/service-names.ts';
import type { StackOptions } from '../../../ops/local/stack.ts';
import { describeExit } from '../../../ops/local/supervise.ts';

/** Aborts `signal`, with an error for the user, if a service of the demo's own crashes. */
export interface CrashWatch extends Required<Pick<StackOptions, 'onServiceExit'>> {
  signal: AbortSignal;
}

/** Watches a stack that gets `onServiceExit`, and keeps its logs in the data directory. */
export function watchCrashes({ dataDir }: { dataDir: string }): CrashWatch {
  const crashed = new AbortController();
  return {
    signal: crashed.signal,
    onServiceExit: (service, exit) =>
      crashed.abort(new Error(`${serviceNames[service]} ${describeExit(exit)} during the demo. Logs: ${dataDir}/logs`)),
  };
}
