import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { loadAiServiceConfig } from '../base/config/ai-service.ts';
import { warnOfIgnored } from '../base/config/ignored-variables.ts';
import { loadOrExit } from '../base/config/load-or-exit.ts';
import { createLog } from '../base/telemetry/create-log.ts';
import { logCrashes } from '../base/telemetry/log-crashes.ts';
import { serveMetrics } from '../base/telemetry/serve-metrics.ts';
import { startTracing } from '../base/telemetry/start-tracing.ts';
import { createE5Model } from './embedding/e5/pooled-model.ts';
import { orderLocalModels } from './embedding/embed-models.ts';
import { hideSecrets } from './hide-secrets.ts';
import { drainOnStop } from './http/in-flight.ts';
import { createAiServiceMetrics } from './metrics.ts';
import { createProvider } from './providers.ts';
import { chooseOcr } from './recognition/backends.ts';
import { findIsolation } from './sandbox/isolation.ts';
import { memoryBytes } from './sandbox/memory-bounds.ts';
import { ProcessPool } from './sandbox/process-pool.ts';
import { createService, readHealth } from './service.ts';

const drainMs = 5000;

loadOrExit(() => hideSecrets(process.env));
const config = loadOrExit(() => loadAiServiceConfig(process.env));
const logger = createLog({ level: config.logLevel, base: { service: 'ai' } });
logCrashes(logger);
warnOfIgnored(process.env, logger);
const tracing = await startTracing(config.tracing, 'ai', logger);
const isolation = findIsolation();
if (isolation.missing.length > 0) logger.warn({ missing: isolation.missing }, 'The readers of documents are not kept from everything.');
const pool = new ProcessPool({
  entry: new URL('./formats/child.ts', import.meta.url),
  size: config.readers,
  heapMegabytes: 512,
  memoryBytes: memoryBytes.reader,
  onStderr: logStderr,
});
// A person waits for an answer, and would wait behind documents that take minutes.
const answerPool = new ProcessPool({
  entry: new URL('./answers/child.ts', import.meta.url),
  size: 1,
  heapMegabytes: 256,
  maxTasks: 1_000,
  memoryBytes: memoryBytes.answerer,
  onStderr: logStderr,
});
const ocr = chooseOcr(config, { size: config.recognizers, memoryBytes: memoryBytes.recognizer, onStderr: logStderr });
const embedPool = startEmbedders();
const localModels = orderLocalModels(config.localEmbedModel, embedPool && createE5Model(embedPool));
const provider = createProvider(config.remote, { readers: pool, answerers: answerPool }, localModels);
const registry = new Registry();
const app = createService({
  config,
  logger,
  pool,
  poolSize: config.readers,
  provider,
  ocr,
  health: () => readHealth(config, { provider, pool, answerPool, ocr, embedPool }),
  observeRequest: createAiServiceMetrics(registry, { readers: config.readers, readLoad: () => pool.load }),
});
if (config.metrics.port > 0) await serveMetrics(config.metrics, { registry });
const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 }, app);
const drain = drainOnStop(server);
server.listen({ port: config.port, host: config.host }, () => {
  logger.info({ port: (server.address() as AddressInfo).port }, 'The AI service is listening.');
});
server.on('error', (error) => {
  logger.fatal({ err: error }, 'The AI service cannot listen.');
  process.exit(1);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(signal));

/** Stops accepting connections, lets requests in flight finish for a few seconds, then ends the children and this process. */
async function stop(signal: string): Promise<void> {
  logger.info({ signal }, 'The AI service is stopping.');
  await drain(drainMs);
  await Promise.all([pool.close(), answerPool.close(), ocr.close(), embedPool?.close(), tracing?.stop()]);
  process.exit(0);
}

/** The process of the local sentence model, if it is chosen. Behind another model it still embeds for what it has indexed. */
function startEmbedders(): ProcessPool | undefined {
  const file = config.embedModelFile;
  if (file === undefined) return undefined;
  return new ProcessPool({
    entry: new URL('./embedding/e5/child.ts', import.meta.url),
    args: [file],
    readable: [file],
    addons: true,
    size: 1,
    heapMegabytes: 256,
    maxTasks: 1_000,
    memoryBytes: memoryBytes.embedder,
    onStderr: logStderr,
  });
}

/** Logs what a dying child writes, such as V8's report of a full heap. */
function logStderr(pid: number | undefined, text: string): void {
  logger.warn({ pid, stderr: text.slice(0, 2000) }, 'A child process wrote to its standard error.');
}
