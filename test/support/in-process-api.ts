import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { installRuntime } from '../../adapters/temporal/runtime.ts';
import { startApi } from '../../api/start/start-api.ts';
import type { Environment } from '../../base/config/environment.ts';
import { inheritedEnvironment } from '../../base/config/local.ts';
import { changeVariables } from '../../base/config/secret-files.ts';
import { loadServerConfig, type ServerConfig } from '../../base/config/server.ts';
import { serverEnvironment } from '../../base/config/server-environment.ts';
import { times } from '../../base/config/times.ts';
import { createLog } from '../../base/telemetry/create-log.ts';
import type { Stack } from '../../ops/local/stack.ts';
import { until } from './processes.ts';
import { timesHook } from './times.ts';

/** Where lines go that Temporal's SDK writes: it has one log in a process, and here it belongs to the API that started last. */
let writeLine: (line: string) => void = () => {};
let runtime: Promise<unknown> | undefined;

/**
 * Whether the API can run here with these variables. One that no configuration holds is read by a library or by Node itself, and metrics and
 * traces belong to a whole process.
 */
export function fitsThisProcess({ NODE_OPTIONS: options, ...env }: Environment): boolean {
  const ofConfiguration = (name: string) => name in serverEnvironment.shape || name === 'OTHER_TIMES';
  return (
    (options === undefined || options === timesHook) &&
    Object.keys(env).every(ofConfiguration) &&
    env.METRICS_PORT === undefined &&
    env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
  );
}

/** Starts the API of a stack, with its worker inside, in this process. Its log is that of the stack. Returns how to stop it. */
export async function startInThisProcess(stack: Stack): Promise<() => Promise<void>> {
  const path = stack.logPath('api');
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'a');
  let open = true;
  const write = (line: string) => void (open && writeSync(file, line));
  writeLine = write;
  const config = loadConfig(changeVariables(inheritedEnvironment(), stack.env));
  const log = createLog({ level: config.logLevel, base: { part: 'api' } }, { write });
  runtime ??= installRuntime({
    log: createLog({ level: 'warn', base: { part: 'api' } }, { write: (line) => writeLine(line) }),
    measures: false,
  });
  await runtime;
  const closeLog = () => {
    open = false;
    closeSync(file);
  };
  try {
    const running = await startApi(config, { log });
    if (config.worker.enabled) await until(async () => stack.readLog('api').includes('"msg":"worker running"'), 60_000);
    return () => running.stop().finally(closeLog);
  } catch (error) {
    closeLog();
    throw error;
  }
}

/** With the times of `withTimes`, as a process takes them at its start. */
function loadConfig(env: Environment): ServerConfig {
  const usual = { ...times };
  Object.assign(times, JSON.parse(env.OTHER_TIMES ?? '{}'));
  try {
    return loadServerConfig(env);
  } finally {
    Object.assign(times, usual);
  }
}
