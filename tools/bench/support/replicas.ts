import { setTimeout as delay } from 'node:timers/promises';
import { findFreePorts } from '../../../local/ports.ts';
import { memoryEnvironment, memoryFlags } from '../../../local/services.ts';
import { type Service, startService } from './service.ts';

/** Two processes of the API without workers inside, and three workers. */
export interface Replicas {
  service: Service;
  /** The addresses of both APIs. */
  urls: string[];
  /** The process ids of both APIs. */
  pids: number[];
  stop(): Promise<void>;
}

const environment = {
  // Longer than any measurement: the quiet tenant opens its streams once.
  STREAM_LIFETIME_MS: String(6 * 3_600_000),
  // As in production: they count for an organization, however many addresses it has.
  INVITATIONS_PER_DAY: '200',
  INVITATIONS_PER_ADDRESS_PER_DAY: '5',
};

/** Starts a stack of replicas on one database. A second API and two more workers end with the stack. */
export async function startReplicas(): Promise<Replicas> {
  const service = await startService(environment, ['postgres', 'temporal', 'ai', 'api', 'worker']);
  try {
    const [port = 0] = await findFreePorts(1);
    const url = `http://localhost:${port}`;
    const api = run(service, 'api', { PORT: String(port) });
    const workers = ['second', 'third'].map((which) => run(service, 'worker', {}, which));
    await service.stack.supervisor.waitUntilReady(api, () => isReady(url), 60_000);
    for (const worker of workers) {
      const says = async () => worker.readLog().includes('"msg":"worker running"');
      await service.stack.supervisor.waitUntilReady(worker, says, 60_000);
    }
    return { service, urls: [service.url, url], pids: [service.stack.pid('api') ?? 0, api.pid], stop: () => service.stop() };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

function run({ stack }: Service, part: 'api' | 'worker', env: Record<string, string>, which = 'second') {
  return stack.supervisor.run({
    name: `The ${which} ${part}`,
    command: process.execPath,
    args: [...memoryFlags, `${part}/main.ts`],
    env: { ...memoryEnvironment, ...stack.env, ...env },
    logFile: `${stack.dataDir}/logs/${which}-${part}.log`,
    graceMs: 15_000,
    background: part === 'worker',
  });
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 200;
}

/** Waits until no job, intent or deletion is left, for five minutes at most. Throws then. */
export async function untilNothingWaits({ pool }: Service): Promise<void> {
  const left = `select (select count(*) from job where status in ('queued', 'running'))
    + (select count(*) from outbox) + (select count(*) from object_to_delete) as left`;
  for (const deadline = Date.now() + 300_000; Date.now() < deadline; await delay(200)) {
    const { rows } = await pool.query(left);
    if (Number(rows[0].left) === 0) return;
  }
  throw new Error('Work of an earlier round is left after five minutes.');
}
