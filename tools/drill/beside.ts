import { fileURLToPath } from 'node:url';
import { findFreePorts } from '../../local/ports.ts';
import type { Service } from './service.ts';

/** Another process of the API or of the worker, beside the stack's own. */
export interface Beside {
  /** The address of an API; of a worker unused. */
  url: string;
  stop(): Promise<unknown>;
}

export interface BesideOptions {
  env?: Record<string, string>;
  /** The directory of the release that it runs; this one by default. */
  root?: string;
}

/** Starts it on the same database, Temporal and objects, and waits until it is ready. */
export async function startBeside(
  { stack }: Service,
  part: 'api' | 'worker',
  { env = {}, root = fileURLToPath(new URL('../..', import.meta.url)) }: BesideOptions = {},
): Promise<Beside> {
  const [port = 0] = await findFreePorts(1);
  const url = `http://localhost:${port}`;
  const running = stack.supervisor.run({
    name: `The other ${part}`,
    command: process.execPath,
    args: [`${part}/main.ts`],
    cwd: root,
    env: { ...stack.env, PORT: String(port), ...env },
    logFile: `${stack.dataDir}/logs/other-${part}.log`,
  });
  const ready = async () => (part === 'api' ? isReady(url) : running.readLog().includes('"msg":"worker running"'));
  await stack.supervisor.waitUntilReady(running, ready, 60_000);
  return { url, stop: () => running.stop() };
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 200;
}

/** The variables that import a file of `hooks/` before a program. */
export function withHook(name: string, env: Record<string, string> = {}): Record<string, string> {
  return { NODE_OPTIONS: `--import=${new URL(`hooks/${name}`, import.meta.url).href}`, ...env };
}
