import type { Registry } from 'prom-client';
import { watchBacklog } from '../../adapters/metrics/watch-backlog.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import { watchStreams } from '../../base/telemetry/gauges.ts';
import { serveMetrics } from '../../base/telemetry/serve-metrics.ts';
import { certificatesOf, watchTimes } from '../../base/telemetry/watch-times.ts';
import { jobKinds } from '../../contract/jobs.ts';
import { measureSkewMs } from '../../db/clock.ts';
import type { Db } from '../../db/connect.ts';
import { measureLockWaits, measureQueues, measureWaiting } from '../../domain/platform/measure-platform.ts';
import type { ProcessParts } from '../../worker/start/run-program.ts';

interface MetricsParts extends Pick<ProcessParts, 'readSdkMetrics'> {
  registry: Registry;
  sessionsDb: Db;
  countStreams(): number;
}

/** Serves the metrics of the API, with what waits on the whole platform, if the configuration names a port. */
export async function serveApiMetrics(
  { metrics, temporal }: ServerConfig,
  { registry, sessionsDb, countStreams, readSdkMetrics }: MetricsParts,
) {
  if (metrics.port === 0) return undefined;
  watchStreams(registry, countStreams);
  watchTimes(registry, { measureSkewMs: () => measureSkewMs(sessionsDb), certificates: certificatesOf(temporal) });
  const refresh = watchBacklog(registry, {
    kinds: jobKinds,
    read: {
      queues: () => measureQueues(sessionsDb),
      waiting: () => measureWaiting(sessionsDb),
      locks: () => measureLockWaits(sessionsDb),
    },
  });
  return await serveMetrics(metrics, { registry, refresh, readOthers: readSdkMetrics });
}
