import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../base/config/environment.ts';
import { inheritedEnvironment, loadStopLimitMs } from '../../base/config/local.ts';
import { findModels } from './models.ts';
import { reachableHost } from './ports.ts';
import { startPostgres } from './postgres.ts';
import type { ServiceName } from './service-names.ts';
import type { RunningProcess, Supervisor } from './supervise.ts';
import { startTemporal } from './temporal.ts';

export interface Ports {
  postgres: number;
  temporal: number;
  temporalUi: number;
  ai: number;
  api: number;
}

export interface Addresses {
  databaseUrl?: string | undefined;
  temporalAddress?: string | undefined;
  temporalUiUrl?: string | undefined;
  aiUrl?: string | undefined;
}

interface ServiceContext {
  supervisor: Supervisor;
  dataDir: string;
  ports: Ports;
  /** Filled in by the services that are started. */
  addresses: Addresses;
  env: Environment;
  logFile: string;
  durable: boolean;
  temporalUi: boolean;
  note: (message: string) => void;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const readyTimeoutMs = 60_000;

/** The best models, unless the user has chosen some. Tests take those that are installed. Without its weights the hash embeds alone. */
async function models(context: ServiceContext): Promise<Environment> {
  const { MODELS_DIR, OCR_PROVIDER, LOCAL_EMBED_MODEL = '' } = { ...inheritedEnvironment(), ...context.env };
  const embeds = /\be5\b/.test(LOCAL_EMBED_MODEL);
  if (!context.durable || MODELS_DIR || (OCR_PROVIDER === 'none' && !embeds)) return {};
  const directory = await findModels(context);
  if (directory !== undefined) return { MODELS_DIR: directory };
  return embeds ? { LOCAL_EMBED_MODEL: 'hash' } : {};
}

/** Starts one service, waits until it is ready, and writes its address into the context. Throws ProcessError if it cannot start. */
export async function startService(service: ServiceName, context: ServiceContext): Promise<RunningProcess> {
  return await starters[service](context);
}

const starters: Record<ServiceName, (context: ServiceContext) => Promise<RunningProcess>> = {
  postgres: async (context) => {
    const { supervisor, dataDir, ports, logFile, durable, note, addresses } = context;
    const { running, url } = await startPostgres(supervisor, { dataDir, port: ports.postgres, logFile, durable, note });
    addresses.databaseUrl = url;
    return running;
  },
  temporal: async (context) => {
    const { supervisor, dataDir, ports, env, logFile, durable, temporalUi, note, addresses } = context;
    const running = await startTemporal(supervisor, {
      port: ports.temporal,
      namespace: env.TEMPORAL_NAMESPACE || 'default',
      logFile,
      note,
      ...(temporalUi ? { uiPort: ports.temporalUi } : {}),
      encrypted: Boolean(env.TEMPORAL_PAYLOAD_KEYS),
      ...(durable ? { databaseFile: join(dataDir, 'temporal.db') } : {}),
    });
    addresses.temporalAddress = `127.0.0.1:${ports.temporal}`;
    // The user may have named an address, such as that of a proxy.
    if (temporalUi) addresses.temporalUiUrl ??= `http://localhost:${ports.temporalUi}`;
    return running;
  },
  ai: async (context) => {
    const { METRICS_PORT: apiMetrics } = { ...inheritedEnvironment(), ...context.env };
    const METRICS_PORT = Number(apiMetrics) ? String(Number(apiMetrics) + 1) : '';
    // Only the API and the worker of this machine call it.
    const env = { ...context.env, ...(await models(context)), METRICS_PORT, HOST: '127.0.0.1' };
    const url = `http://127.0.0.1:${context.ports.ai}`;
    const running = await startNode('The AI service', ['ai/main.ts'], { ...context, env }, () => isHealthy(`${url}/health`));
    context.addresses.aiUrl = url;
    return running;
  },
  api: (context) => {
    const worker = context.env.WORKER_ENABLED !== 'false';
    const url = `http://${reachableHost(context.env.HOST)}:${context.ports.api}`;
    return startNode('The API', [...memoryFlags, 'api/main.ts'], context, async (running) => {
      return (!worker || saysWorkerRuns(running)) && (await isHealthy(`${url}/readyz`));
    });
  },
  worker: (context) => {
    const args = [...memoryFlags, 'worker/main.ts'];
    return startNode('The worker', args, context, async (running) => saysWorkerRuns(running));
  },
};

async function startNode(
  name: string,
  args: string[],
  context: ServiceContext,
  ready: (running: RunningProcess) => Promise<boolean>,
): Promise<RunningProcess> {
  const { supervisor, logFile, env } = context;
  const running = supervisor.run({
    name,
    command: process.execPath,
    args,
    cwd: root,
    env: { ...memoryEnvironment, ...env },
    logFile,
    graceMs: loadStopLimitMs({ ...inheritedEnvironment(), ...env }),
  });
  try {
    await supervisor.waitUntilReady(running, () => ready(running), readyTimeoutMs);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return running;
}

/** Whether a URL responds with 200 within two seconds. */
export async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}

function saysWorkerRuns(running: RunningProcess): boolean {
  return running.readLog().includes('"msg":"worker running"');
}

/**
 * Node collects garbage with one thread beside its own, before the heap has more than doubled, instead of quadrupled
 * (docs/decisions/processes.md). The API and the worker run with these flags, here and in `docker-compose.yml`.
 */
export const memoryFlags = ['--v8-pool-size=1', '--max-semi-space-size=4', '--heap-growing-percent=100'];

/**
 * For glibc's allocator: its default threshold as a fixed number. Otherwise the threshold rises with the largest block that was ever freed,
 * and the process keeps freed memory below it.
 */
export const memoryEnvironment = { MALLOC_TRIM_THRESHOLD_: '131072' };
