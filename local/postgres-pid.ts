import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandOf } from './processes.ts';

// Higher than any process id that a kernel gives out.
const nobodysPid = 99_999_999;

/**
 * Makes way for a new server on this cluster: ends the one of a run that left it behind, and frees the lock file of one that was killed
 * where its process id belongs to another program by now (Postgres itself would take that program for a server).
 * The rest of the lock file stays: with it Postgres makes sure that no process of the old server still writes.
 */
export async function clearStalePid(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return;
  const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  const pid = Number.parseInt(first, 10);
  if (!(pid > 0)) return;
  if (isServerOf(cluster, pid)) await endServer(cluster, pid);
  else if (existsSync(file)) writeFileSync(file, [String(nobodysPid), ...rest].join('\n'));
}

function isServerOf(cluster: string, pid: number): boolean {
  return commandOf(pid)?.includes(cluster) ?? false;
}

async function endServer(cluster: string, pid: number): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 5000],
  ] as const) {
    process.kill(pid, signal);
    const deadline = performance.now() + waitMs;
    while (performance.now() < deadline) {
      if (!isServerOf(cluster, pid)) return;
      await delay(50);
    }
  }
  throw new Error(`Another Postgres (process ${pid}) runs on ${cluster} and does not stop. End it first.`);
}
