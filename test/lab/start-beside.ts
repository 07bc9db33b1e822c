import { fileURLToPath } from 'node:url';
import { findFreePorts } from '../../ops/local/ports.ts';
import { isHealthy, memoryEnvironment, memoryFlags } from '../../ops/local/services.ts';
import type { Stack } from '../../ops/local/stack.ts';

/** Another process of the API or of the worker, beside the stack's own. */
interface Beside {
  /** The address of an API; of a worker unused. */
  url: string;
  stop(): Promise<unknown>;
}

export interface BesideOptions {
  env?: Record<string, string>;
  /** The directory of the release that it runs; this one by default. */
  root?: string;
}

const thisRelease = fileURLToPath(new URL('../..', import.meta.url));

/** Starts it on the same database, Temporal and objects, and waits until it is ready. It ends with the stack. */
export async function startBeside(
  stack: Stack,
  part: 'api' | 'worker',
  { env = {}, root = thisRelease }: BesideOptions = {},
): Promise<Beside> {
  const [port = 0] = await findFreePorts(1);
  const url = `http://localhost:${port}`;
  const running = stack.supervisor.run({
    name: `Another ${part}`,
    command: process.execPath,
    args: [...memoryFlags, `${part}/main.ts`],
    cwd: root,
    env: { ...memoryEnvironment, ...stack.env, PORT: String(port), ...env },
    logFile: `${stack.dataDir}/logs/other-${part}-${port}.log`,
    graceMs: 15_000,
  });
  const ready = async () => (part === 'api' ? isHealthy(`${url}/readyz`) : running.readLog().includes('"msg":"worker running"'));
  await stack.supervisor.waitUntilReady(running, ready, 60_000);
  return { url, stop: () => running.stop() };
}
