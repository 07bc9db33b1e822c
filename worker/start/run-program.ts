import type { Logger } from 'pino';
import { installRuntime } from '../../adapters/temporal/runtime.ts';
import { warnOfIgnored } from '../../base/config/ignored-variables.ts';
import { loadOrExit } from '../../base/config/load-or-exit.ts';
import { loadServerConfig, type ServerConfig } from '../../base/config/server.ts';
import { createLog } from '../../base/telemetry/create-log.ts';
import { logCrashes } from '../../base/telemetry/log-crashes.ts';
import { startTracing, type Tracing } from '../../base/telemetry/start-tracing.ts';
import { WrongStore } from '../../domain/stored-objects/store-owner.ts';

/** What belongs to the process, and not to the program that runs in it. */
export interface ProcessParts {
  log: Logger;
  /** Undefined while nothing is traced. */
  tracing?: Tracing | undefined;
  /** Reads the metrics of Temporal's SDK, in Prometheus's text format. */
  readSdkMetrics?: (() => Promise<string>) | undefined;
}

/** A program that runs until it is stopped. */
export interface Running {
  /** Ends what is under way in order, then every connection. */
  stop(): Promise<void>;
}

/**
 * Runs a program as a process: reads its configuration from `env`, starts it, and stops it at SIGTERM or SIGINT, which end a start that
 * is under way at once. Ends the process with 1 if the configuration is invalid or the store belongs to another database.
 */
export async function runProgram(
  part: 'api' | 'worker',
  env: NodeJS.ProcessEnv,
  start: (config: ServerConfig, parts: ProcessParts) => Promise<Running>,
): Promise<void> {
  const config = loadOrExit(() => loadServerConfig(env));
  const log = createLog({ level: config.logLevel, base: { part } });
  logCrashes(log);
  warnOfIgnored(env, log);
  const tracing = await startTracing(config.tracing, part, log);
  const readSdkMetrics = await installRuntime({ log, measures: config.metrics.port > 0 });
  let running: Running | undefined;
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, async () => {
      if (stopping) return;
      stopping = true;
      log.info({ signal }, 'stopping');
      await running?.stop();
      await tracing?.stop();
      log.info('stopped');
      process.exit(0);
    });
  running = await start(config, { log, tracing, readSdkMetrics }).catch((err: unknown) => {
    if (!(err instanceof WrongStore)) throw err;
    log.fatal({ err }, `the ${part === 'api' ? 'API' : part} does not start: this is not the store of its database`);
    process.exit(1);
  });
}
