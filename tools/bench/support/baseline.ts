import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Service } from './service.ts';

/** A baseline in a process of its own, as the service is; `ready` is what it prints, or a URL that answers. */
export async function startBaseline(service: Service, file: string, args: string[], ready: string): Promise<{ stop(): Promise<unknown> }> {
  const path = fileURLToPath(new URL(`../baselines/${file}`, import.meta.url));
  const logFile = `${service.stack.dataDir}/logs/${file}.log`;
  const running = service.stack.supervisor.run({ name: file, command: process.execPath, args: [path, ...args], logFile });
  for (let tries = 0; tries < 300; tries++) {
    if (running.exit) throw new Error(`${file} ended: ${running.readLog()}`);
    if (ready.startsWith('http') ? await answers(ready) : running.readLog().includes(ready)) return { stop: () => running.stop() };
    await delay(100);
  }
  throw new Error(`${file} is not ready: ${running.readLog()}`);
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}
