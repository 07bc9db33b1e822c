import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Service } from './service.ts';

/** A process that the service is compared with. */
export interface Baseline {
  pid: number;
  stop(): Promise<unknown>;
}

/** Starts a baseline in its own process, like the service. It is ready when it has printed `ready`, or when the URL `ready` responds. */
export async function startBaseline(service: Service, file: string, args: string[], ready: string): Promise<Baseline> {
  const path = fileURLToPath(new URL(`../baselines/${file}`, import.meta.url));
  const logFile = `${service.stack.dataDir}/logs/${file}.log`;
  const running = service.stack.supervisor.run({ name: file, command: process.execPath, args: [path, ...args], logFile });
  for (let tries = 0; tries < 300; tries++) {
    if (running.exit) throw new Error(`${file} ended: ${running.readLog()}`);
    if (ready.startsWith('http') ? await responds(ready) : running.readLog().includes(ready))
      return { pid: running.pid, stop: () => running.stop() };
    await delay(100);
  }
  throw new Error(`${file} is not ready: ${running.readLog()}`);
}

async function responds(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}
