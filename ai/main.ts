import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import pino from 'pino';
import { loadAiServiceConfig } from '../config/ai-service.ts';
import { ConfigurationError } from '../config/environment.ts';
import { drainOnStop } from './http/in-flight.ts';
import { chooseOcr } from './ocr/backends.ts';
import { ProcessPool } from './pool/process-pool.ts';
import { createLocalProvider, createRemoteProvider } from './providers.ts';
import { createService, readHealth } from './service.ts';

const drainMs = 5000;

const config = readConfig();
const logger = pino({ level: config.logLevel, base: { service: 'ai' } });
// Each process holds about 100 MB, and more processes than concurrent jobs would be idle.
const poolSize = Math.min(4, Math.max(2, availableParallelism()));
const pool = new ProcessPool({
  entry: new URL('./extract/child.ts', import.meta.url),
  size: poolSize,
  heapMegabytes: 512,
  memoryBytes: 1024 * 1024 * 1024,
  onStderr: logStderr,
});
// Text recognition keeps a core busy for seconds; the other cores stay free for quick requests.
const ocr = chooseOcr(config, Math.max(1, Math.floor(poolSize / 2)), logStderr);
const provider = config.remote ? createRemoteProvider(config.remote) : createLocalProvider(pool);
const app = createService({
  config,
  logger,
  pool,
  poolSize,
  provider,
  ocr: ocr.backend,
  health: () => readHealth(config, provider, pool, ocr),
});
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
  await Promise.all([pool.close(), ocr.close()]);
  process.exit(0);
}

/** Logs what a dying child writes, such as V8's report of a full heap. */
function logStderr(pid: number | undefined, text: string): void {
  logger.warn({ pid, stderr: text.slice(0, 2000) }, 'A child process wrote to its standard error.');
}

function readConfig() {
  try {
    return loadAiServiceConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
