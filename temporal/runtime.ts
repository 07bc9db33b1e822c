import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/**
 * Sends the SDK's own log, the native one too, through the process's, and serves its metrics to Prometheus where a port is
 * given. Once for each process, before anything else of the SDK. Signals are left to `main.ts`, which stops the parts in order.
 */
export function installRuntime({ log, metricsPort }: { log: Logger; metricsPort: number }): void {
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry: LogEntry) => log[levels[entry.level]]({ ...entry.meta }, entry.message)),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metricsPort > 0 ? { metrics: { prometheus: { bindAddress: `0.0.0.0:${metricsPort}` } } } : {}),
    },
  });
}
