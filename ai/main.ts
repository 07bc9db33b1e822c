import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import pino from 'pino';
import { loadAiServiceConfig } from '../config/ai-service.ts';
import { ConfigurationError } from '../config/environment.ts';
import { drainOnStop } from './http/drain-on-stop.ts';
import { chooseOcr } from './ocr/choose-ocr.ts';
import { ProcessPool } from './pool/process-pool.ts';
import { createLocalProvider } from './providers/local-provider.ts';
import { readHealth } from './read-health.ts';
import { createRemoteProvider } from './remote/remote-provider.ts';
import { createService } from './service.ts';

const drainMs = 5000;

const config = readConfig();
const logger = pino({ level: config.logLevel, base: { service: 'ai' } });
// Each process holds about 100 MB; more of them than jobs run at once would only wait.
const poolSize = Math.min(4, Math.max(2, availableParallelism()));
const pool = new ProcessPool({
  entry: new URL('./extract/child.ts', import.meta.url),
  size: poolSize,
  heapMegabytes: 512,
  memoryBytes: 1024 * 1024 * 1024,
  onStderr: logStderr,
});
// The text recognition keeps a core busy for seconds; the other cores stay free for what is quick.
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

/** Takes no new connections, lets the requests under way end for a few seconds, then leaves with every child. */
async function stop(signal: string): Promise<void> {
  logger.info({ signal }, 'The AI service is stopping.');
  await drain(drainMs);
  await Promise.all([pool.close(), ocr.close()]);
  process.exit(0);
}

/** What a dying process says, such as where its memory went. */
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
