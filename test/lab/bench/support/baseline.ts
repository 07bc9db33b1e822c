import { fileURLToPath } from 'node:url';
import type { Service } from './service.ts';

/** A process that the service is compared with. */
interface Baseline {
  stop(): Promise<unknown>;
}

/** Starts a baseline in its own process, like the service. It is ready when it has printed `ready`, or when the URL `ready` responds. */
export async function startBaseline(service: Service, file: string, args: string[], ready: string): Promise<Baseline> {
  const path = fileURLToPath(new URL(`../baselines/${file}`, import.meta.url));
  const logFile = `${service.stack.dataDir}/logs/${file}.log`;
  const running = service.stack.supervisor.run({ name: file, command: process.execPath, args: [path, ...args], logFile });
  const isReady = async () => (ready.startsWith('http') ? await isUp(ready) : running.readLog().includes(ready));
  await service.stack.supervisor.waitUntilReady(running, isReady, 30_000);
  return running;
}

async function isUp(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}
