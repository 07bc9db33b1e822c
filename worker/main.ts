import { Registry } from 'prom-client';
import { createStorage } from '../adapters/storage/create-storage.ts';
import { traceStorage } from '../adapters/storage/traced-storage.ts';
import { createAiClient } from '../ai/client.ts';
import { loadOrExit } from '../config/load-or-exit.ts';
import { loadServerConfig } from '../config/server.ts';
import { createDb, createPool } from '../db/connect.ts';
import { endPools } from '../db/pools.ts';
import { checkStoreOwner, WrongStore } from '../domain/objects/store-owner.ts';
import { createLog } from '../telemetry/create-log.ts';
import { logCrashes } from '../telemetry/log-crashes.ts';
import { serveMetrics } from '../telemetry/serve-metrics.ts';
import { createServerMetrics } from '../telemetry/server-metrics.ts';
import { startTracing } from '../telemetry/start-tracing.ts';
import { watchDatabase } from '../telemetry/watch-parts.ts';
import { createTemporalClient } from '../temporal/connect.ts';
import { createOutbox } from '../temporal/outbox.ts';
import { installRuntime } from '../temporal/runtime.ts';
import { startWorker } from './start-worker.ts';

const config = loadOrExit(() => loadServerConfig(process.env));
const log = createLog({ level: config.logLevel, base: { part: 'worker' } });
logCrashes(log);
const tracing = await startTracing(config.tracing, 'worker', log);
const readSdkMetrics = await installRuntime({ log, measures: config.metrics.port > 0 });
const registry = new Registry();
const metrics = createServerMetrics(registry);

const { url, pooled, poolSize } = config.database;
const pool = createPool({
  url,
  pooled,
  poolSize,
  name: 'sheaf worker',
  work: 'worker',
  onError: (error) => log.warn({ err: error }, 'an idle database connection was lost'),
});
const db = createDb(pool);
watchDatabase(registry, metrics, { pools: { worker: pool }, dbs: [db] });
const temporal = createTemporalClient(config.temporal);
const outbox = createOutbox({ db, client: temporal, log, settings: config.jobs });
const storage = traceStorage(await createStorage(config));
await checkStoreOwner(db, storage, { stores: false }).catch((err: unknown) => {
  // Other errors may be temporary: the worker checks again before it runs.
  if (!(err instanceof WrongStore)) return;
  log.fatal({ err }, 'the worker does not start: this is not the store of its database');
  process.exit(1);
});
outbox.start();
const workers = startWorker(config, temporal, {
  db,
  outbox,
  tracing,
  storage,
  ai: metrics.observeAi(createAiClient({ baseUrl: config.ai.url, token: config.ai.token, attemptMs: config.jobs.timeoutMs })),
  log,
  steps: metrics.steps,
});
if (config.metrics.port > 0) await serveMetrics(config.metrics, { registry, readOthers: readSdkMetrics });

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));

/** Lets attempts finish within their grace period, hands back the others, then closes their connections. */
async function stop(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, 'stopping');
  await workers.stop();
  await outbox.stop();
  await temporal.connection.close();
  await endPools([pool]);
  await tracing?.stop();
  log.info('stopped');
  process.exit(0);
}
