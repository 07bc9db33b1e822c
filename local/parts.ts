import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../config/environment.ts';
import { memoryEnvironment, memoryFlags } from './memory-flags.ts';
import { reachableHost } from './ports.ts';
import { startPostgres } from './postgres.ts';
import type { Addresses, PartName, Ports } from './stack-types.ts';
import type { RunningProcess, Supervisor } from './supervise.ts';
import { startTemporal } from './temporal.ts';

export interface PartContext {
  supervisor: Supervisor;
  dataDir: string;
  ports: Ports;
  /** Filled in by the parts that are started. */
  addresses: Addresses;
  env: Environment;
  logFile: string;
  durable: boolean;
  temporalUi: boolean;
  note: (message: string) => void;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const readyTimeoutMs = 60_000;

/** Starts one part, waits until it is ready, and writes its address into the context. Throws ProcessError when it cannot start. */
export async function startPart(part: PartName, context: PartContext): Promise<RunningProcess> {
  return await starters[part](context);
}

const starters: Record<PartName, (context: PartContext) => Promise<RunningProcess>> = {
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
      otherCacheDir: join(dataDir, 'cache'),
      note,
      ...(temporalUi ? { uiPort: ports.temporalUi } : {}),
      ...(durable ? { databaseFile: join(dataDir, 'temporal.db') } : {}),
    });
    addresses.temporalAddress = `127.0.0.1:${ports.temporal}`;
    // One that the user names leads there in a way of their own.
    if (temporalUi) addresses.temporalUiUrl ??= `http://localhost:${ports.temporalUi}`;
    return running;
  },
  ai: async (context) => {
    // Nobody but this machine's API calls it, so it listens to nobody else.
    const env = { AI_HOST: '127.0.0.1', ...context.env };
    const url = `http://${reachableHost(env.AI_HOST)}:${context.ports.ai}`;
    const running = await startNode('The AI service', ['ai/main.ts'], { ...context, env }, () => answers(`${url}/health`));
    context.addresses.aiUrl = url;
    return running;
  },
  api: (context) => {
    const worker = context.env.WORKER_ENABLED !== 'false';
    const url = `http://${reachableHost(context.env.HOST)}:${context.ports.api}`;
    return startNode('The API', [...memoryFlags, 'api/main.ts'], context, async (running) => {
      return (!worker || saysWorkerRuns(running)) && (await answers(`${url}/readyz`));
    });
  },
  worker: (context) => startNode('The worker', [...memoryFlags, 'worker/main.ts'], context, async (running) => saysWorkerRuns(running)),
};

async function startNode(
  name: string,
  args: string[],
  context: PartContext,
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
    graceMs: 15_000,
  });
  try {
    await supervisor.waitUntilReady(running, () => ready(running), readyTimeoutMs);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return running;
}

async function answers(url: string): Promise<boolean> {
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
