import { Registry } from 'prom-client';
import { createAiClient } from '../../adapters/ai-service/client.ts';
import { createServerMetrics } from '../../adapters/metrics/server-metrics.ts';
import { watchDatabase } from '../../adapters/metrics/watch-parts.ts';
import { createStorage } from '../../adapters/storage/create-storage.ts';
import { traceStorage } from '../../adapters/storage/traced-storage.ts';
import { createTemporalClient } from '../../adapters/temporal/connect.ts';
import { createOutbox } from '../../adapters/temporal/outbox.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import { serveMetrics } from '../../base/telemetry/serve-metrics.ts';
import { certificatesOf, watchTimes } from '../../base/telemetry/watch-times.ts';
import { measureSkewMs } from '../../db/clock.ts';
import { createDb, createPool } from '../../db/connect.ts';
import { endPools } from '../../db/pools.ts';
import { createCallRecord } from '../../domain/costs/record-calls.ts';
import { checkStoreOwner, WrongStore } from '../../domain/stored-objects/store-owner.ts';
import { followLogLevel } from '../follow-log-level.ts';
import { startWorker } from '../start-worker.ts';
import type { ProcessParts, Running } from './run-program.ts';

/** Starts the worker as a program of its own. Throws WrongStore if the store belongs to another database. */
export async function startWorkerProgram(config: ServerConfig, { log, tracing, readSdkMetrics }: ProcessParts): Promise<Running> {
  const registry = new Registry();
  const metrics = createServerMetrics(registry);
  const { url, pooled, poolSize } = config.database;
  const onError = (error: Error) => log.warn({ err: error }, 'an idle database connection was lost');
  const pool = createPool({ url, pooled, poolSize, name: 'sheaf worker', work: 'worker', onError });
  const db = createDb(pool);
  watchDatabase(registry, metrics, { pools: { worker: pool }, dbs: [db] });
  watchTimes(registry, { measureSkewMs: () => measureSkewMs(db), certificates: certificatesOf(config.temporal) });
  const temporal = createTemporalClient(config.temporal);
  const outbox = createOutbox({ db, client: temporal, log, settings: config.jobs, onPoll: followLogLevel(log, db) });
  const storage = traceStorage(await createStorage(config));
  await checkStoreOwner(db, storage, { stores: false }).catch((err: unknown) => {
    // Other errors may be temporary: the worker checks again before it runs.
    if (err instanceof WrongStore) throw err;
  });
  outbox.start();
  const record = createCallRecord(db, (err) => log.warn({ err }, 'what a provider did could not be stored: it stays unknown'));
  const { url: baseUrl, token } = config.ai;
  const ai = metrics.observeAi(createAiClient({ baseUrl, token, attemptMs: config.jobs.timeoutMs, record }));
  const workers = startWorker(config, temporal, { db, outbox, tracing, storage, ai, log, steps: metrics.steps });
  const served = config.metrics.port > 0 ? await serveMetrics(config.metrics, { registry, readOthers: readSdkMetrics }) : undefined;
  return {
    /** Lets attempts finish within their grace period, hands back the others, then closes the connections. */
    async stop() {
      await workers.stop();
      await outbox.stop();
      await temporal.connection.close();
      await endPools([pool]);
      await served?.close();
    },
  };
}
