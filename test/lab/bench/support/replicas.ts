import { setTimeout as delay } from 'node:timers/promises';
import { startBeside } from '../../start-beside.ts';
import { type Service, startService } from './service.ts';

/** Two processes of the API without workers inside, and three workers. */
export interface Replicas {
  service: Service;
  /** The addresses of both APIs. */
  urls: string[];
  stop(): Promise<void>;
}

// As in production: they count for an organization, however many addresses it has.
const environment = { INVITATIONS_PER_DAY: '200' };

/** Starts a stack of replicas on one database. A second API and two more workers end with the stack. */
export async function startReplicas(): Promise<Replicas> {
  const service = await startService(environment, ['postgres', 'temporal', 'ai', 'api', 'worker']);
  try {
    const api = await startBeside(service.stack, 'api');
    for (let more = 0; more < 2; more++) await startBeside(service.stack, 'worker');
    return { service, urls: [service.url, api.url], stop: () => service.stop() };
  } catch (error) {
    await service.stop();
    throw error;
  }
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
