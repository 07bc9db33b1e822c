import type { Registry } from 'prom-client';
import type { ServerConfig } from '../../config/server.ts';
import { jobKinds } from '../../contract/jobs.ts';
import type { Db } from '../../db/connect.ts';
import { measureLockWaits, measureQueues, measureWaiting } from '../../domain/operations/measure-platform.ts';
import { watchStreams } from '../../telemetry/gauges.ts';
import { serveMetrics } from '../../telemetry/serve-metrics.ts';
import { watchBacklog } from '../../telemetry/watch-backlog.ts';
import type { ProcessParts } from '../../worker/start/run-program.ts';

interface MetricsParts extends Pick<ProcessParts, 'readSdkMetrics'> {
  registry: Registry;
  sessionsDb: Db;
  countStreams(): number;
}

/** Serves the metrics of the API, with what waits on the whole platform, if the configuration names a port. */
export async function serveApiMetrics({ metrics }: ServerConfig, { registry, sessionsDb, countStreams, readSdkMetrics }: MetricsParts) {
  if (metrics.port === 0) return undefined;
  watchStreams(registry, countStreams);
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
