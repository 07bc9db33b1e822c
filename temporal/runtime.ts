import type { MetricMeter } from '@temporalio/common';
import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/**
 * Writes the log of the SDK, including its native part, to the log of the process, and serves its metrics to Prometheus if a port is given.
 * Call it once, before anything else of the SDK. Returns what makes metrics that are served with those of the SDK. `main.ts` handles
 * signals, because it stops the parts in order.
 */
export function installRuntime({ log, metricsPort }: { log: Logger; metricsPort: number }): MetricMeter {
  const runtime = Runtime.install({
    logger: new DefaultLogger('INFO', (entry: LogEntry) => log[levels[entry.level]]({ ...entry.meta }, entry.message)),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metricsPort > 0 ? { metrics: { prometheus: { bindAddress: `0.0.0.0:${metricsPort}` } } } : {}),
    },
  });
  return runtime.metricMeter;
}
