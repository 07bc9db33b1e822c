import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import pino from 'pino';
import { loadAiServiceConfig } from '../config/ai-service.ts';
import { ConfigurationError } from '../config/environment.ts';
import { chooseOcr } from './ocr/choose-ocr.ts';
import { ProcessPool } from './pool/process-pool.ts';
import { createLocalProvider } from './providers/local-provider.ts';
import { readHealth } from './read-health.ts';
import { createRemoteProvider } from './remote/remote-provider.ts';
import { createService } from './service.ts';

const drainMs = 4000;

const config = readConfig();
const logger = pino({ level: config.logLevel, base: { service: 'ai' } });
const poolSize = Math.max(2, availableParallelism());
const pool = new ProcessPool({
  entry: new URL('./extract/child.ts', import.meta.url),
  size: poolSize,
  heapMegabytes: 512,
  memoryBytes: 1024 * 1024 * 1024,
});
// The text recognition keeps a core busy for seconds; the other cores stay free for what is quick.
const ocr = chooseOcr(config, Math.max(1, Math.floor(poolSize / 2)));
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
server.listen({ port: config.port, host: config.host }, () => {
  logger.info({ port: (server.address() as AddressInfo).port }, 'The AI service is listening.');
});
server.on('error', (error) => {
  logger.fatal({ err: error }, 'The AI service cannot listen.');
  process.exit(1);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(signal));

/** Takes no new connections, lets the requests under way end for a few seconds, then leaves with every child. */
async function stop(signal: string): Promise<void> {
  logger.info({ signal }, 'The AI service is stopping.');
  const closed = new Promise((resolve) => server.close(resolve));
  // A connection that is kept alive becomes idle only when its answer is out.
  setInterval(() => server.closeIdleConnections(), 50);
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, drainMs))]);
  server.closeAllConnections();
  await Promise.all([pool.close(), ocr.close()]);
  process.exit(0);
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
